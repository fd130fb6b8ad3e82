"""Files of compiler pairs: one JSON object {task, messages, reply} a line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.rows import read_rows
from memory_node.context.guidance import Delivery
from memory_node.context.prompt_compiler import SaidCompilation
from memory_node.context.soft_memory import UNSAID
from memory_node.llm.chat import Message
from training.compiler.teacher import CompilerPair


def write_pairs(path: Path, pairs: Iterable[CompilerPair]) -> None:
    """Write pairs."""
    with path.open("w", encoding="utf-8") as file:
        for pair in pairs:
            file.write(json.dumps(pair.to_row(), ensure_ascii=False) + "\n")


def read_pairs(path: Path) -> Iterator[CompilerPair]:
    """Yield the pairs of a file.

    Raises:
        NotFoundError: there is no such file.
        InvalidValueError: a line is no pair; the message names it.
    """
    return read_rows(path, "pair", _pair)


def _pair(row: Mapping[str, Any]) -> CompilerPair:
    reply = str(row["reply"])
    written = reply.startswith("{")
    delivery = SaidCompilation.model_validate_json(reply).delivery if written else Delivery(reply.partition(" ")[0])
    executor, action = _dialogue(row.get("executor", [])), str(row.get("action", ""))
    unsaid = tuple(map(float, row.get("unsaid", ())))
    if len(unsaid) not in (0, UNSAID):
        raise ValueError(f"unsaid: expected {UNSAID} numbers, got {len(unsaid)}")
    said = str(row["task"]), _dialogue(row["messages"]), reply
    return CompilerPair(*said, delivery, executor, action, unsaid)


def _dialogue(turns: Iterable[Mapping[str, Any]]) -> tuple[Message, ...]:
    return tuple(Message(turn["role"], str(turn["content"])) for turn in turns)

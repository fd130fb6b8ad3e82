"""Files of taught dialogues: one JSON object {task, messages, learnt} a line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.rows import read_rows
from memory_node.llm.chat import Message
from training.executor.teacher import Lesson


@dataclass(frozen=True)
class TaughtDialogue:
    """What a model is told and answers. learnt: indices of the messages that it is to say."""

    task: str
    messages: tuple[Message, ...]
    learnt: tuple[int, ...]

    def to_row(self) -> dict[str, Any]:
        """Return a JSON object."""
        turns = [[message.role, message.text] for message in self.messages]
        return {"task": self.task, "messages": turns, "learnt": list(self.learnt)}

    @classmethod
    def from_row(cls, row: dict[str, Any]) -> TaughtDialogue:
        """Return what a JSON object tells."""
        messages = tuple(Message(role, str(text)) for role, text in row["messages"])
        learnt = tuple(int(index) for index in row["learnt"])
        if any(messages[index].role != "assistant" for index in learnt):
            raise ValueError("only what the model says is learnt")
        return cls(str(row["task"]), messages, learnt)


def dialogues_of(task: str, lesson: Lesson) -> list[TaughtDialogue]:
    """Return a lesson as dialogues: one where the dialogue only grew, else one for each step that is learnt."""
    dialogues: list[TaughtDialogue] = []
    learnt: list[int] = []
    said: tuple[Message, ...] = ()
    for step in lesson.steps:
        if step.messages[: len(said)] != said:
            dialogues.append(TaughtDialogue(task, said, tuple(learnt)))
            learnt = []
        said = (*step.messages, Message("assistant", step.call))
        learnt += [len(said) - 1] if step.learnt else []
    dialogues.append(TaughtDialogue(task, said, tuple(learnt)))
    return [dialogue for dialogue in dialogues if dialogue.learnt]


def append_dialogues(path: Path, dialogues: list[TaughtDialogue]) -> None:
    """Add dialogues to a file."""
    with path.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(dialogue.to_row(), ensure_ascii=False) + "\n" for dialogue in dialogues)


def read_dialogues(path: Path) -> Iterator[TaughtDialogue]:
    """Yield the dialogues of a file.

    Raises:
        NotFoundError: there is no such file.
        InvalidValueError: a line is no dialogue; the message names it.
    """
    return read_rows(path, "taught dialogue", TaughtDialogue.from_row)

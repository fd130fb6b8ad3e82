"""Questions with the passages or turns that answer them, in the formats of `bench knowledge`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.rows import open_text
from memory_node.domain.errors import InvalidValueError
from memory_node.knowledge.standard_step import StandardStep, Turn, document_steps, talk_steps
from memory_node.knowledge.text import stamp_of

# The categories of LoCoMo that memory can answer; 5 asks for what was never said.
_ANSWERABLE = (1, 2, 3, 4)


@dataclass(frozen=True)
class AskedQuestion:
    """A question. gold: indices of the passages that answer it. answers: texts that count as right."""

    text: str
    gold: frozenset[int]
    answers: tuple[str, ...] = ()


@dataclass(frozen=True)
class Collection:
    """Passages that are searched together. passages: as texts for the methods that rank texts. steps: the same in the
    standard form; passage_of: the passage of each step's source."""

    passages: tuple[str, ...]
    steps: tuple[StandardStep, ...]
    passage_of: Mapping[str, int]
    questions: tuple[AskedQuestion, ...]


@dataclass(frozen=True)
class Dataset:
    """name: as the rows show it."""

    name: str
    collections: tuple[Collection, ...]


def load_dataset(path: Path, limit: int = 0) -> Dataset:
    """Return the questions of a file; limit: only so many of each collection, 0 for all.

    Raises:
        InvalidValueError: the file has neither format.
        NotFoundError: there is no such file.
    """
    with open_text(path) as file:
        values = json.load(file)
    if isinstance(values, dict) and "conversations" in values:
        return Dataset("locomo", tuple(_conversation(one, limit) for one in values["conversations"]))
    if isinstance(values, dict) and {"questions", "passages"} <= values.keys():
        return Dataset(str(values.get("name", path.name)), (_passages(values, limit),))
    raise InvalidValueError(f"{path}: expected `conversations`, or `questions` and `passages`")


def _passages(values: Mapping[str, Any], limit: int) -> Collection:
    steps: list[StandardStep] = []
    passage_of: dict[str, int] = {}
    for index, passage in enumerate(values["passages"]):
        for step in document_steps(f"passage-{index}", passage["title"], [passage["text"]]):
            steps.append(step)
            passage_of[step.source] = index
    asked = [
        AskedQuestion(one["question"], frozenset(one["gold"]), tuple(map(str, one.get("answers", ()))))
        for one in values["questions"]
    ]
    texts = tuple(f"{passage['title']}: {passage['text']}" for passage in values["passages"])
    return Collection(texts, tuple(steps), passage_of, tuple(asked[: limit or None]))


def _conversation(values: Mapping[str, Any], limit: int) -> Collection:
    steps: list[StandardStep] = []
    texts: list[str] = []
    place: dict[str, int] = {}
    passage_of: dict[str, int] = {}
    for number, session in enumerate(values["sessions"]):
        turns = [Turn(turn["speaker"], turn["text"], turn.get("image", "")) for turn in session["turns"]]
        for turn, step in zip(
            session["turns"], talk_steps(f"session-{number}", turns, stamp_of(session["at"]) or 0), strict=True
        ):
            place[turn["id"]] = passage_of[step.source] = len(steps)
            steps.append(step)
            texts.append(f"{turn['speaker']}: {step.action}")
    asked = list(_asked(values["questions"], place))
    return Collection(tuple(texts), tuple(steps), passage_of, tuple(asked[: limit or None]))


def _asked(questions: list[dict[str, Any]], place: Mapping[str, int]) -> Iterator[AskedQuestion]:
    for one in questions:
        named = [turn for evidence in one["evidence"] for turn in re.split(r"[;,\s]+", evidence)]
        gold = frozenset(place[turn] for turn in named if turn in place)
        if one["category"] in _ANSWERABLE and gold:
            yield AskedQuestion(one["question"], gold, (str(one["answer"]),))

"""The suites of the household benchmark: instruction files -> cases with the goals that decide success."""

from __future__ import annotations

import json
import random
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.rows import open_text
from memory_node.domain.errors import InvalidValueError

SPLITS = ("all", "train", "held-out")
_ONE_OF = 10


def is_in(split: str, task_id: str) -> bool:
    """Return whether a row of ALFRED belongs to a split.

    task_id: "TASK/TRIAL". All trials of a task, which is a goal in a floor plan, are on the same side.
    """
    if split == "all":
        return True
    held_out = zlib.crc32(task_id.partition("/")[0].encode()) % _ONE_OF == 0
    return held_out == (split == "held-out")


SUITES = ("alfred", "alfred-l", "eb-alfred")


@dataclass(frozen=True)
class Case:
    """One instruction in one home. task: ALFRED's row ({} for alfred-l); conditions: ALFRED-L's goal text."""

    id: str
    category: str
    floor_plan: str
    instruction: str
    task: Mapping[str, Any] = field(default_factory=dict)
    conditions: str = ""


def load_cases(path: Path, suite: str, limit: int, seed: int, split: str = "all") -> list[Case]:
    """Return a suite's cases, a sample of `limit` (0 = all), those of one floor plan in a row.

    split: those of alfred that may be learnt from, or those that may not (household_split.SPLITS).

    Raises:
        InvalidValueError: the file does not hold such a suite, or it is not split.
    """
    rows = read_rows(path)
    if split != "all":
        rows = _split_rows(rows, suite, split)
    generator = random.Random(seed)
    if limit and limit < len(rows):
        rows = [rows[index] for index in sorted(generator.sample(range(len(rows)), limit))]
    try:
        cases = [_case(row, suite, generator) for row in rows]
    except KeyError as error:
        raise InvalidValueError(f"{path} is no {suite} file: a row has no {error}") from error
    order = list(dict.fromkeys(case.floor_plan for case in cases))
    return sorted(cases, key=lambda case: order.index(case.floor_plan))


def _split_rows(rows: Sequence[Mapping[str, Any]], suite: str, split: str) -> list[Mapping[str, Any]]:
    if suite != "alfred":
        raise InvalidValueError(f"--split {split}: only the suite alfred is split into tasks to learn from and others")
    return [row for row in rows if is_in(split, str(row.get("id", "")))]


def read_rows(path: Path) -> list[Mapping[str, Any]]:
    """Return the rows of a JSON array or of JSON lines, gzip-coded or not."""
    with open_text(path) as file:
        text = file.read()
    if text.lstrip().startswith("["):
        rows: list[Mapping[str, Any]] = json.loads(text)
        return rows
    return [json.loads(line) for line in text.splitlines() if line.strip()]


def _case(row: Mapping[str, Any], suite: str, generator: random.Random) -> Case:
    if suite == "alfred":
        words = [person["task"] for person in row["instructions"]]
        return Case(row["id"], row["task_type"], row["floor_plan"], generator.choice(words), row)
    if suite == "eb-alfred":
        task = row["task"]
        name = f"{task['id']}/{row['subset']}/{row['repeat_idx']}"
        return Case(name, row["subset"], task["floor_plan"], row["instruction"], task)
    name = f"{row['category']} {row['id']}"
    return Case(name, row["category"], row["floor_plan"], row["instruction"], {}, row["goal"])

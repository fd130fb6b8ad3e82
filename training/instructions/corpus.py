"""The ALFRED instructions as labelled sentences, split so that no goal in a home is both learnt and tested."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memory_node.planner.reading.trained_reader import ALFRED_KIND, NO_CLASS


@dataclass(frozen=True)
class Labels:
    """What one sentence asks for: a kind that the reader knows and class names, NO_CLASS where a slot is empty."""

    kind: str
    target: str = NO_CLASS
    parent: str = NO_CLASS
    container: str = NO_CLASS
    light: str = NO_CLASS
    sliced: bool = False


@dataclass(frozen=True)
class Example:
    """A sentence, its labels, and what its home holds: classes of movable things and of fixtures."""

    text: str
    labels: Labels
    objects: frozenset[str]
    fixtures: frozenset[str]


@dataclass(frozen=True)
class Task:
    """One ALFRED task: its labels, its home, and the words of three people (whole task, and step by step)."""

    id: str
    labels: Labels
    objects: frozenset[str]
    fixtures: frozenset[str]
    sentences: tuple[str, ...]
    steps: tuple[tuple[str, ...], ...]
    actions: tuple[tuple[str, tuple[str, ...]], ...]

    def examples(self) -> Iterator[Example]:
        """Yield one example for each person's sentence."""
        for sentence in self.sentences:
            yield Example(sentence, self.labels, self.objects, self.fixtures)


def labels_of(task_type: str, params: Mapping[str, Any]) -> Labels:
    """Return the labels of an ALFRED goal."""
    return Labels(
        ALFRED_KIND[task_type].value,
        params["object_target"] or NO_CLASS,
        params["parent_target"] or NO_CLASS,
        params["mrecep_target"] or NO_CLASS,
        params["toggle_target"] or NO_CLASS,
        bool(params["object_sliced"]),
    )


def load_tasks(tasks_path: Path, scenes_path: Path) -> list[Task]:
    """Read `tasks_*.jsonl.gz` with the fixtures of `scenes.json.gz`."""
    with gzip.open(scenes_path, "rt") as file:
        scenes = json.load(file)
    tasks = []
    with gzip.open(tasks_path, "rt") as file:
        for line in file:
            row = json.loads(line)
            scene = scenes[row["floor_plan"]]
            tasks.append(
                Task(
                    row["id"],
                    labels_of(row["task_type"], row["pddl_params"]),
                    frozenset(item["type"] for item in row["objects"]),
                    frozenset(item["type"] for item in scene["fixtures"]),
                    tuple(person["task"].strip() for person in row["instructions"]),
                    tuple(tuple(person["steps"]) for person in row["instructions"]),
                    tuple((step["action"], tuple(step["args"])) for step in row["plan"]),
                )
            )
    return tasks


def part_of(task_id: str) -> str:
    """Return "train", "validation" or "test" (84 : 8 : 8) by the goal and home that lead the id, for ever the same."""
    goal = task_id.split("/")[0]
    share = int.from_bytes(hashlib.sha256(goal.encode()).digest()[:4], "big") / 2**32
    return "test" if share < 0.08 else "validation" if share < 0.16 else "train"

"""`memory-node bench instructions`: people's words -> goals, compared with what ALFRED says they mean."""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from benchmarks import plain_commands
from benchmarks.alfred_goals import alfred_goal
from benchmarks.household_cases import read_rows
from benchmarks.plain_commands import effects
from benchmarks.rows import emit, median_of
from memory_node.app.progress import progress_bar, shown
from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.errors import ResourceMissingError
from memory_node.planner.open_planner import open_understander
from memory_node.planner.reading.home_classes import HomeClasses
from memory_node.planner.reading.trained_reader import GoalModel
from memory_node.planner.reading.understanding import Understander
from memory_node.search.minilm import MiniLmEmbedder

_CHECKS = Path(__file__).parent / "checks"
_FILES = {
    "instruction_checks": ("development", "final"),
    "instruction_checks_persons": ("persons", "persons-final"),
    "instruction_checks_described": ("described", "described-final"),
}
PARTS = tuple(part for parts in _FILES.values() for part in parts)


@dataclass(frozen=True)
class Check:
    """An instruction in a home, and the effects that it asks for; any of `wanted` is right."""

    text: str
    category: str
    home: HomeClasses
    wanted: tuple[tuple[str, ...], ...]


def load_checks(part: str) -> list[Check]:
    """Return one part of checks/instruction_checks*.yaml, whose homes all of them share."""
    files = {name: yaml.safe_load((_CHECKS / f"{name}.yaml").read_text(encoding="utf-8")) for name in _FILES}
    homes = {
        name: HomeClasses(frozenset(home["objects"]), frozenset(home["fixtures"]))
        for file in files.values()
        for name, home in file.get("homes", {}).items()
    }
    categories = next(file[part] for file in files.values() if part in file)
    return [_check(row, category, homes) for category, rows in categories.items() for row in rows]


def _check(row: Mapping[str, Any], category: str, homes: Mapping[str, HomeClasses]) -> Check:
    wanted = (row["want"], *row.get("or", ()))
    return Check(row["say"], category, homes[row["home"]], tuple(tuple(one) for one in wanted))


def measure(checks: Iterable[Check], understander: Understander) -> tuple[list[dict[str, Any]], list[str]]:
    """Return a row for each category and one for all, and a text for each instruction that was misread."""
    outcomes: list[tuple[str, bool, float]] = []
    mistakes: list[str] = []
    for check in checks:
        started = time.perf_counter()
        read = effects(understander.understand(check.text, check.home).goals)
        outcomes.append((check.category, read in check.wanted, 1e3 * (time.perf_counter() - started)))
        if read not in check.wanted:
            mistakes.append(f"{check.text}\n    wanted {'; '.join(check.wanted[0])}\n    read   {'; '.join(read)}")
    categories = list(dict.fromkeys(category for category, _, _ in outcomes))
    rows = [_row(name, [one for one in outcomes if one[0] == name]) for name in categories]
    return [*rows, _row("all", outcomes)], mistakes


def _row(category: str, outcomes: list[tuple[str, bool, float]]) -> dict[str, Any]:
    return {
        "category": category,
        "instructions": len(outcomes),
        "right": round(float(np.mean([right for _, right, _ in outcomes])), 4),
        "ms_p50": round(float(np.median([spent for _, _, spent in outcomes])), 3),
    }


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the benchmark's options."""
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--tasks", type=Path, help="tasks_*.jsonl or rows of eb-alfred (.gz)")
    source.add_argument(
        "--robustness",
        choices=PARTS,
        help="instead of tasks, a part of benchmarks/checks/: indirect, distracting, chains, as people do",
    )
    source.add_argument(
        "--commands",
        choices=plain_commands.PARTS,
        help="instead, plain commands to a robot that may ask back: named things known, unknown, memory empty",
    )
    source.add_argument(
        "--sessions", choices=plain_commands.SESSION_PARTS, help="instead, instructions that follow one another"
    )
    parser.add_argument("--scenes", type=Path, help="the homes' fixtures (default: scenes.json.gz beside the tasks)")
    parser.add_argument(
        "--limit", type=int, default=0, help="read only this many rows, chosen by --seed (default: all)"
    )
    parser.add_argument("--mistakes", type=int, default=0, help="print this many misread sentences to standard error")


def run(args: argparse.Namespace) -> int:
    """Run the benchmark; return the exit status."""
    if args.commands or args.sessions:
        rows, mistakes = _on_commands(args)
    else:
        rows, mistakes = _on_checks(args) if args.robustness else _on_tasks(args)
    for text in mistakes[: args.mistakes]:
        print(text, file=sys.stderr)
    emit(rows, args.json)
    return 0


def _on_commands(args: argparse.Namespace) -> tuple[list[dict[str, Any]], list[str]]:
    """Read what people say to a robot that can ask them."""
    kinds = load_catalogue()
    understander = open_understander(kinds, MiniLmEmbedder())
    if args.sessions:
        sessions = plain_commands.load_sessions(args.sessions, kinds)
        read = plain_commands.measure_sessions(shown(sessions, "dialogues"), understander, kinds)
        return [plain_commands.row_of_sessions(read)], plain_commands.mistakes(one for row in read for one in row)
    turns = plain_commands.load_commands(args.commands, kinds)
    with progress_bar() as progress:
        task = progress.add_task("commands", total=len(turns) * len(plain_commands.CONDITIONS))
        outcomes = plain_commands.measure_commands(turns, understander, kinds, lambda: progress.advance(task))
    return list(plain_commands.rows_of_commands(outcomes)), plain_commands.mistakes(outcomes)


def _on_checks(args: argparse.Namespace) -> tuple[list[dict[str, Any]], list[str]]:
    """Read instructions as the offline planner reads them."""
    kinds = load_catalogue()
    understander = open_understander(kinds, MiniLmEmbedder(), asks=False)
    return measure(shown(load_checks(args.robustness), "instructions"), understander)


def _on_tasks(args: argparse.Namespace) -> tuple[list[dict[str, Any]], list[str]]:
    """Read people's sentences as one whole ALFRED goal each."""
    rows = read_rows(args.tasks)
    if args.limit and args.limit < len(rows):
        chosen = np.random.default_rng(args.seed).permutation(len(rows))[: args.limit]
        rows = [rows[index] for index in sorted(chosen)]
    fixtures = _fixtures(args.scenes, args.tasks)
    model = GoalModel()
    model.predict("warm up", HomeClasses())
    types_right, exact, times_ms = 0, 0, []
    mistakes: list[str] = []
    for sentence, task in shown(list(_sentences(rows)), "sentences"):
        home = HomeClasses(
            frozenset(item["type"] for item in task.get("objects", ())),
            fixtures.get(task.get("floor_plan", ""), frozenset()),
        )
        started = time.perf_counter()
        goal = alfred_goal(model.predict(sentence, home, complete=True).goal)
        times_ms.append(1e3 * (time.perf_counter() - started))
        wanted = {"task_type": task["task_type"], "pddl_params": _normal(task["pddl_params"])}
        types_right += goal["task_type"] == wanted["task_type"]
        exact += goal == wanted
        if goal != wanted:
            mistakes.append(f"{sentence}\n    wanted {wanted}\n    read   {goal}")
    count = len(times_ms)
    row = {
        "instructions": count,
        "task_type_accuracy": round(types_right / max(count, 1), 4),
        "goal_exact": round(exact / max(count, 1), 4),
        "ms_p50": median_of(times_ms, 3),
    }
    return [row], mistakes


def _sentences(rows: list[Mapping[str, Any]]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield (sentence, ALFRED task) of either format."""
    for row in rows:
        if "task" in row:
            yield row["instruction"], row["task"]
        else:
            yield from ((person["task"], row) for person in row["instructions"])


def _normal(params: Mapping[str, Any]) -> dict[str, Any]:
    slots = ("object_target", "parent_target", "mrecep_target", "toggle_target")
    return {"object_sliced": bool(params.get("object_sliced")), **{slot: params.get(slot) or "" for slot in slots}}


def _fixtures(scenes: Path | None, tasks: Path) -> dict[str, frozenset[str]]:
    """Return floor plan -> classes of fixtures; {} when no file says so and none was asked for.

    Raises:
        ResourceMissingError: the file that was asked for is not there.
    """
    path = scenes or tasks.parent / "scenes.json.gz"
    if not path.is_file():
        if scenes is not None:
            raise ResourceMissingError(f"{scenes} is not there; give the floor plans' scenes.json.gz")
        return {}
    content = path.read_bytes()
    plans = json.loads(gzip.decompress(content) if path.suffix == ".gz" else content)
    return {name: frozenset(one["type"] for one in plan["fixtures"]) for name, plan in plans.items()}

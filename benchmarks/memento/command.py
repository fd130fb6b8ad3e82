"""The options of `memory-node bench memento`, and its rows."""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

import yaml

from benchmarks.memento.life import MementoLife, Trial
from benchmarks.memento.robot import FloorPlan, calls_to_move, class_name_of
from benchmarks.memento.tasks import Home, Task, load_homes
from benchmarks.model_figures import add_planner_arguments, llm_config
from benchmarks.ranking.ranked_planner import BY_CHANCE, CHANCE, open_bench_planner
from benchmarks.rows import chosen, emit, mean_of, sample
from memory_node.app.progress import progress_bar
from memory_node.catalogue.class_name import folded
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.skill import SkillCall
from memory_node.planner.planner import PlannedStep, Planner, PlanningContext, PlanOutcome, PlanRun
from memory_node.planner.planner_config import PlannerConfig
from memory_node.search.embedders import CachingEmbedder
from memory_node.search.minilm import MiniLmEmbedder

_HOLDS_IN = ("Cabinet", "Fridge", "Wardrobe", "FilingCabinet", "WasherDryer")


def write_label_space(homes: Sequence[Home], path: Path) -> str:
    """Write the label space of some homes to a file; return its path as a parameter takes it."""
    classes: dict[str, dict[str, Any]] = {}
    for home in homes:
        for furniture in FloorPlan(home).furniture.values():
            holds = "in" if furniture.class_name in _HOLDS_IN else "on"
            classes[furniture.class_name] = {**_entry(furniture.class_name), "is": ["fixed"], "holds": holds}
        for task in (*home.first, *home.single, *home.joint):
            for thing in task.objects:
                name = class_name_of(thing.class_name)
                classes.setdefault(name, {**_entry(name), "is": ["pickupable"], "size_m": [0.1, 0.1, 0.1]})
    path.write_text(yaml.safe_dump({"name": "memento", "classes": classes}), encoding="utf-8")
    return str(path)


def _entry(class_name: str) -> dict[str, Any]:
    words = "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in class_name).strip()
    return {"names": [words], "gloss": f"a {words}"}


_MOST_THINGS = 3  # that a task of MEMENTO moves


class ChancePlanner:
    """A `Planner` that goes through the rooms, and then takes things that it has seen to furniture, drawn at random."""

    def __init__(self, seed: str) -> None:
        self._seed = seed

    def run(self, instruction: str, situation: PlanningContext) -> PlanRun:
        """Yield the calls; the instruction only makes the draw."""
        drawn = random.Random(f"{self._seed} {instruction}")
        for room in situation.scene().rooms:
            yield PlannedStep(SkillCall("GoToObject", (f"{room.center[0]:.2f},{room.center[1]:.2f}",)))
        for _ in range(drawn.randint(1, _MOST_THINGS)):
            there = sorted((one for one in situation.scene().objects if not one.removed), key=lambda one: one.id)
            things = [one for one in there if one.movable]
            places = [one for one in there if not one.movable and folded(one.class_name) != "floor"]
            if not (things and places):
                break
            for call in calls_to_move(drawn.choice(things), drawn.choice(places)):
                yield PlannedStep(call)
        return PlanOutcome((instruction,), (False,), planner=CHANCE)


MEMORIES = ("full", "none", "shuffled", "gold")
PLANNERS = ("offline", "llm", *BY_CHANCE)
JOINT = "joint"
_ONE_MEMORY = ("object_semantics", "user_pattern")
_EMPTY = "empty"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the benchmark's options."""
    parser.add_argument("--data", type=Path, required=True, help="the homes and their tasks (.json, .gz)")
    parser.add_argument("--planner", choices=PLANNERS, default="offline")
    parser.add_argument(
        "--memory",
        choices=MEMORIES,
        default="full",
        help="of the first day: all, nothing, another home's, or the related tasks alone",
    )
    parser.add_argument(
        "--acquire", choices=("oracle", "planner"), default="oracle", help="who carries out the first day's tasks"
    )
    parser.add_argument("--one-store", action="store_true", help="the first days of all homes in one memory")
    parser.add_argument("--only", nargs="+", default=(), metavar="ID", help="these later tasks")
    parser.add_argument(
        "--limit",
        type=int,
        default=0,
        metavar="N",
        help="a sample of N later tasks with one memory, and of N with two (default: all)",
    )
    parser.add_argument("--each-task", action="store_true", help="a row for each task, too")
    add_planner_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Run the benchmark; return the exit status."""
    homes = load_homes(args.data)
    tasks = later_tasks(homes, args.only, args.limit, args.seed)
    embedder = CachingEmbedder(MiniLmEmbedder())
    settings = PlannerConfig(llm=llm_config(args))
    for planner in (args.planner, *(BY_CHANCE if args.planner == "llm" else ())):

        def opened(kinds: ObjectCatalogue, name: str = planner) -> Planner:
            if name == CHANCE:
                return ChancePlanner(str(args.seed))
            return open_bench_planner(
                name, args.mode, embedder, settings, args.fallback, seed=str(args.seed), kinds=kinds
            )

        with tempfile.TemporaryDirectory(prefix="memento") as folder:
            label_space = write_label_space(homes, Path(folder) / "memento.yaml")
            life = MementoLife(Path(folder), label_space, embedder, opened, args.acquire == "planner")
            trials = _play(life, homes, tasks, args.memory, args.one_store)
        emit(rows_of(trials, planner, args.memory, args.each_task), args.json)
    return 0


LaterTask = tuple[Home, Task]


def later_tasks(homes: Sequence[Home], ids: Collection[str], limit: int, seed: int) -> list[LaterTask]:
    """Return the later tasks of some ids (none: all), and of these a sample with one memory and one with two, in the
    order of the file.

    Raises:
        InvalidValueError: there is no later task of an id.
    """
    every = [(home, task) for home in homes for task in (*home.single, *home.joint)]
    wanted = chosen(every, ids, lambda one: one[1].id)
    kept = {
        task.id
        for is_joint in (False, True)
        for _, task in sample([one for one in wanted if (one[1].kind == JOINT) is is_joint], limit, seed)
    }
    return [one for one in wanted if one[1].id in kept]


def _play(
    life: MementoLife, homes: Sequence[Home], tasks: Sequence[LaterTask], memory: str, one_store: bool
) -> list[Trial]:
    needed = {_database(homes, home, memory, one_store) for home, _ in tasks}
    trials: list[Trial] = []
    with progress_bar() as bar:
        lived = [home for home in homes if {"all", home.home} & needed] if memory in ("full", "shuffled") else []
        first: Any = bar.add_task("first days", total=len(lived))
        for home in lived:
            life.first_day(home, home.first, "all" if one_store else home.home)
            bar.advance(first)
        later: Any = bar.add_task(f"memory {memory}", total=len(tasks))
        for home, task in tasks:
            if memory == "gold":
                database = f"gold-{task.id}"
                life.first_day(home, [one for one in home.first if one.id in task.related], database)
            else:
                database = _database(homes, home, memory, one_store)
            trials.append(life.later(home, task, database))
            bar.advance(later)
    return trials


def _database(homes: Sequence[Home], home: Home, memory: str, one_store: bool) -> str:
    if memory == "none":
        return _EMPTY
    if one_store:
        return "all"
    if memory == "full":
        return home.home
    return homes[(homes.index(home) + 1) % len(homes)].home


def rows_of(trials: Sequence[Trial], planner: str, memory: str, each_task: bool) -> Iterable[dict[str, Any]]:
    """Yield a row for each kind of task, for those with one memory, for all, and, if asked, for each task."""
    if each_task:
        for trial in trials:
            yield {"task": trial.task.id, "instruction": trial.task.instruction, **_row([trial], planner, memory, "")}
    kinds = {
        "object_semantics": [trial for trial in trials if trial.task.kind == "object_semantics"],
        "user_pattern": [trial for trial in trials if trial.task.kind == "user_pattern"],
        "one memory": [trial for trial in trials if trial.task.kind in _ONE_MEMORY],
        "joint": [trial for trial in trials if trial.task.kind == JOINT],
        "all": list(trials),
    }
    for kind, of_kind in kinds.items():
        yield _row(of_kind, planner, memory, kind)


def _row(trials: Sequence[Trial], planner: str, memory: str, kind: str) -> dict[str, Any]:
    outcomes = [trial.result.outcome for trial in trials]
    return {
        "planner": planner,
        "memory": memory,
        "kind": kind or trials[0].task.kind,
        "tasks": len(trials),
        "success_rate": mean_of([trial.success for trial in trials]),
        "goal_share": mean_of([sum(trial.met) / len(trial.met) for trial in trials]),
        "given_rate": mean_of([all(trial.given) for trial in trials]),
        "wrong_things": sum(trial.wrong for trial in trials),
        "calls_mean": mean_of([trial.result.skills for trial in trials]),
        "tokens_in_mean": mean_of([outcome.cost.tokens_in for outcome in outcomes]),
        "tokens_new_mean": mean_of([outcome.cost.tokens_new for outcome in outcomes]),
        "memory_tokens_mean": mean_of([trial.memory_tokens for trial in trials]),
    }

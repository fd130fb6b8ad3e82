"""`memory-node bench answers`: both object memories are asked the same questions about a home that they know."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from benchmarks.rows import emit
from memory_node import FindQuery, MemoryConfig, RobotMemory, open_memory
from memory_node.app.progress import shown
from memory_node.catalogue.object_kind import Property
from memory_node.domain.answer import AnswerStatus, ObjectAnswer, Recollection
from memory_node.domain.geometry import Pose
from memory_node.domain.skill import StateChange
from memory_node.scene_graph.free_space import OccupancyMap
from memory_node.short_term.config import ShortTermConfig
from memory_node.sim.home_file import load_home
from memory_node.sim.robot import HomeRobot
from memory_node.sim.world import World

_SHIPPED = Path(__file__).with_name("checks") / "home_queries.yaml"
# All that the home holds is in the short-term memory, too, so that both memories know the same.
_CAPACITY = 1000
_LOOK_EVERY_M = 1.0
_SAME_PLACE_M = 0.3
_K = 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("--queries", type=Path, default=_SHIPPED, metavar="FILE", help="default: the shipped questions")
    parser.add_argument("--wrong", action="store_true", help="list what was answered wrongly, or not at all")


def run(args: argparse.Namespace) -> int:
    """Do it; return the exit status."""
    document = yaml.safe_load(args.queries.read_text(encoding="utf-8"))
    world = load_home(document["home"])
    memory = memory_of(world)
    try:
        asked = ask(memory, shown(document["queries"], "questions"))
    finally:
        memory.close()
    emit(rows(document["queries"], asked, world), args.json)
    if args.wrong:
        for case, answers in zip(document["queries"], asked):
            for name, answer in answers.items():
                if judged(case, answer, world) in (False, None) and (case["fits"] or answer.answers):
                    said = [(one.object_class, round(one.score, 2)) for one in answer.answers] or answer.explanation
                    print(f"{name}: {case['text']!r}: {said}")
    return 0


def memory_of(world: World) -> RobotMemory:
    """Return the memory of a robot that has looked at every place of a home, and into everything that opens."""
    robot = HomeRobot(world)
    config = MemoryConfig(short_term=ShortTermConfig(capacity=_CAPACITY))
    memory = open_memory(config, clock=lambda: world.now_ns)
    grid = world.grid
    memory.set_map(OccupancyMap(grid.occupancy, grid.resolution_m, Pose.planar(*grid.origin, 0.0)), world.now_ns)
    for thing in world:
        if thing.can(Property.OPENABLE):
            world.set_open(thing, True)
    free = grid.points[:: max(1, round(_LOOK_EVERY_M / grid.resolution_m))]
    for x, y in free:
        robot.body.move(Pose.planar(float(x), float(y), 0.0))
        memory.observe(robot.observe(all_around=True))
        world.advance(1.0)
    told = memory.scene().objects
    states = [
        StateChange(found.id, found.class_name, world.now_ns, tuple(thing.states), source="user")
        for found in told
        for thing in world.of_class(found.class_name)
        if thing.states and np.linalg.norm(thing.box.center - found.box.center) < _SAME_PLACE_M
    ]
    memory.remember(states)
    return memory


def ask(memory: RobotMemory, cases: Iterable[Mapping[str, Any]]) -> list[dict[str, Recollection]]:
    """Return what both memories answer to each question."""
    services: dict[str, Callable[[FindQuery], Recollection]] = {"find": memory.find, "recall": memory.recall}
    return [{name: service(FindQuery(text=case["text"], k=_K)) for name, service in services.items()} for case in cases]


def rows(
    cases: Sequence[Mapping[str, Any]], asked: Sequence[Mapping[str, Recollection]], world: World
) -> Iterator[dict[str, Any]]:
    """Yield one row for each service.

    precision_ok: of the questions answered with OK, the share whose best answer is right; precision_all: of all answers
    with OK, the share of a class that fits. recall: of the questions that something there answers, the share answered
    rightly. refused: of the others, the share answered with UNKNOWN. agreement: of all questions, the share to which
    both services give the same status and the same best thing.
    """
    agreement = float(np.mean([_said(answers["find"]) == _said(answers["recall"]) for answers in asked]))
    for name in ("find", "recall"):
        pairs = [(case, answers[name]) for case, answers in zip(cases, asked)]
        yield {"service": name, "queries": len(cases), **_figures(pairs, world), "agreement": agreement}


def _figures(pairs: Sequence[tuple[Mapping[str, Any], Recollection]], world: World) -> dict[str, float]:
    """Return a service's figures; pairs: of a question and its answer."""
    best = [judged(case, answer, world) for case, answer in pairs if answer.status is AnswerStatus.OK]
    every = [fits for case, answer in pairs for fits in _fitting(case, answer)]
    there = [judged(case, answer, world) is True for case, answer in pairs if case["fits"]]
    absent = [answer.status is AnswerStatus.UNKNOWN for case, answer in pairs if not case["fits"]]
    return {
        "answered_ok": len(best),
        "precision_ok": float(np.mean([right for right in best if right is not None])),
        "precision_all": float(np.mean(every)),
        "recall": float(np.mean(there)),
        "refused": float(np.mean(absent)),
    }


def _fitting(case: Mapping[str, Any], answer: Recollection) -> Iterator[bool]:
    """Yield for each sure answer whether its class fits; classes that could be defended do not count."""
    for one in answer.answers:
        if one.status is AnswerStatus.OK and one.object_class not in case.get("also", ()):
            yield one.object_class in case["fits"]


def judged(case: Mapping[str, Any], answer: Recollection, world: World) -> bool | None:
    """Return whether the best answer is right; None where it could be defended, or there is none."""
    best = answer.best
    if best is None or (best.object_class in case.get("also", ()) and best.object_class not in case["fits"]):
        return None
    return best.object_class in case["fits"] and _is(best, case.get("thing", ""), world)


def _is(answer: ObjectAnswer, thing_id: str, world: World) -> bool:
    if not thing_id:
        return True
    return bool(np.linalg.norm(world[thing_id].box.center - answer.position) < _SAME_PLACE_M)


def _said(answer: Recollection) -> tuple[AnswerStatus, str]:
    return answer.status, answer.best.object_id if answer.best is not None else ""

"""How many of the things that a task's plan needs stand in what a language model is told of the home."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from benchmarks.alfred_goals import goal_from_alfred
from memory_node.catalogue.class_name import folded
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.context import estimate_tokens
from memory_node.domain.scene import SceneSnapshot
from memory_node.domain.skill_library import GoalKind
from memory_node.planner.goal import Goal
from memory_node.planner.known_world import KnownWorld
from memory_node.world.episode import EpisodeWorld

TOKENS = 1_500
# Things that the list names.
_THINGS = 30


def listed(tasks: Iterable[Mapping[str, Any]], scene: SceneSnapshot, kinds: ObjectCatalogue) -> tuple[int, int]:
    """Return how many needed kinds of things are listed within the budget, of those that memory knows any of.

    tasks: rows of ALFRED.
    """
    there = {folded(found.class_name) for found in scene.objects if not found.removed}
    found = wanted = 0
    for task in tasks:
        goal = goal_from_alfred(task["task_type"], task["pddl_params"])
        told = _told(goal, scene, kinds)
        for group in _needed(goal, kinds):
            known = {folded(name) for name in group} & there
            wanted += bool(known)
            found += bool(known & told)
    return found, wanted


def _needed(goal: Goal, kinds: ObjectCatalogue) -> Iterator[tuple[str, ...]]:
    """Yield the classes of which a plan needs one: each named thing, where it is treated, what cuts."""
    yield from (mention.candidates for mention in goal.mentions)
    usual = kinds.usual_treatment(goal.kind)
    if usual is not None and usual.at:
        yield usual.at
    cutting = kinds.usual_treatment(GoalKind.SLICE)
    if goal.sliced and cutting is not None:
        yield cutting.tools


def _told(goal: Goal, scene: SceneSnapshot, kinds: ObjectCatalogue) -> set[str]:
    """Return the classes, folded, of the things that stand in the list of a prompt within the budget."""
    about = tuple(dict.fromkeys(name for mention in goal.mentions for name in mention.candidates))
    world = KnownWorld(EpisodeWorld(kinds), about, _THINGS)
    world.refresh(scene)
    left, told = TOKENS, set()
    for line, thing in zip(world.lines(), world.things.values()):
        left -= estimate_tokens(line) + 1
        if left >= 0:
            told.add(folded(thing.object_class))
    return told

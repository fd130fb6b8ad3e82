"""Decides whether an instruction was carried out: ALFRED's goals and ALFRED-L's conditions, watched as time passes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from benchmarks.alfred_goals import goal_from_alfred
from benchmarks.household_cases import Case
from benchmarks.household_conditions import Condition, ConditionReader
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.skill_library import GoalKind
from memory_node.domain.states import ObjectState
from memory_node.planner.goal import Goal, Mention
from memory_node.sim.thing import HAND, Thing
from memory_node.sim.world import World

_TREATED = {
    GoalKind.CLEAN: ObjectState.CLEANED,
    GoalKind.HEAT: ObjectState.HEATED,
    GoalKind.COOL: ObjectState.COLD,
}


class Judge(Protocol):
    """Watches a world and says in the end what was achieved."""

    def watch(self, world: World) -> None:
        """Look at the world now; called whenever something may have changed."""

    def verdict(self, world: World) -> tuple[int, int]:
        """Return (conditions met, conditions) at the end."""

    def problems(self) -> Sequence[str]:
        """Return what is wrong with the conditions themselves."""


def judge_of(case: Case, world: World, kinds: ObjectCatalogue) -> Judge:
    """Return the judge of a case in its world as it is at the start."""
    if case.conditions:
        return ConditionJudge(ConditionReader(kinds).read(case.conditions, world))
    return AlfredJudge(goal_from_alfred(case.task["task_type"], case.task["pddl_params"]), kinds)


class ConditionJudge:
    """ALFRED-L: a condition counts as met when it held at some moment after the instruction began.

    met: which have been so far.
    """

    def __init__(self, conditions: Sequence[Condition]) -> None:
        self.conditions = conditions
        self.met = [False] * len(conditions)

    def watch(self, world: World) -> None:
        """Note what holds now."""
        for index, condition in enumerate(self.conditions):
            self.met[index] = self.met[index] or condition.holds(world)

    def verdict(self, world: World) -> tuple[int, int]:
        """Return how many were met."""
        self.watch(world)
        return sum(self.met), len(self.met)

    def problems(self) -> list[str]:
        """Return the conditions that can never be met, and why."""
        return [f"{one.text}: {one.malformed}" for one in self.conditions if one.malformed]

    def missed(self) -> list[str]:
        """Return the conditions that have not been met so far."""
        return [one.text for one, met in zip(self.conditions, self.met) if not met]


class AlfredJudge:
    """ALFRED's goal conditions (Shridhar et al. 2020), on the state at the end; treatments count once they happened."""

    def __init__(self, goal: Goal, kinds: ObjectCatalogue) -> None:
        self._goal = goal
        name = goal.target.object_class
        pieces = kinds[name].slices
        self._targets = frozenset({pieces} if goal.sliced else {name, pieces})
        self._treated: set[str] = set()

    def watch(self, world: World) -> None:
        """Note which targets have been treated by now."""
        state = _TREATED.get(self._goal.kind)
        if state is not None:
            self._treated |= {thing.id for thing in self._things(world) if state in thing.states}

    def problems(self) -> list[str]:
        """ALFRED's goals are well-formed."""
        return []

    def verdict(self, world: World) -> tuple[int, int]:
        """Return (met, all) of the goal's conditions."""
        self.watch(world)
        met, total = self._placed(world)
        if self._goal.sliced:
            pieces = 2 if self._goal.kind is GoalKind.PLACE_TWO else 1
            met += min(len(self._things(world)), pieces)
            total += pieces
        return met, total

    def _things(self, world: World) -> list[Thing]:
        return [thing for thing in world if thing.class_name in self._targets]

    def _placed(self, world: World) -> tuple[int, int]:
        goal = self._goal
        if goal.kind is GoalKind.EXAMINE:
            return self._examined(world), 2
        if goal.kind is GoalKind.STACK:
            return self._stacked(world), 3
        there = [thing for thing in self._things(world) if _is_at(world, thing, goal.destination)]
        if goal.kind is GoalKind.PLACE_TWO:
            places = [_place_of(world, thing, goal.destination) for thing in there]
            return min(max((places.count(place) for place in places), default=0), 2), 2
        if goal.kind in _TREATED:
            both = [thing for thing in there if thing.id in self._treated]
            return bool(there) + bool(self._treated) + bool(both), 3
        return int(bool(there)), 1

    def _examined(self, world: World) -> int:
        assert self._goal.light is not None
        held = any(thing.parent_id == HAND for thing in self._things(world))
        return held + any(lamp.is_on for lamp in world.of_class(self._goal.light.object_class))

    def _stacked(self, world: World) -> int:
        container, destination = self._goal.container, self._goal.destination
        assert container is not None
        loaded = [thing for thing in self._things(world) if _is_at(world, thing, container)]
        arrived = any(_is_at(world, one, destination) for one in world.of_class(container.object_class))
        return bool(loaded) + arrived + any(_is_at(world, thing, destination) for thing in loaded)


def _is_at(world: World, thing: Thing, place: Mention | None) -> bool:
    return _place_of(world, thing, place) != ""


def _place_of(world: World, thing: Thing, place: Mention | None) -> str:
    """Return the id of the receptacle of the wanted class that the thing is in or on, "" when there is none."""
    wanted = place.object_class if place else ""
    return next((support.id for support in world.supports(thing) if support.class_name == wanted), "")

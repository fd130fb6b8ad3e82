"""Decides whether an instruction was carried out, watched as time passes: ALFRED's goals, and ALFRED-L's conditions,
read leniently: `ON(apple, table): 1, STATE(tomato, clean): 1` and so on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from benchmarks.alfred_goals import goal_from_alfred
from benchmarks.alfred_home import position_from_thor
from benchmarks.household_cases import Case
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.names import singular
from memory_node.domain.skill_library import GoalKind
from memory_node.domain.states import ObjectState
from memory_node.planner.goal import Goal, Mention
from memory_node.sim.thing import HAND, Thing
from memory_node.sim.visibility import horizontal_distance
from memory_node.sim.world import World

_CONDITION = re.compile(r"(?P<name>[A-Za-z_]+)\s*\((?P<arguments>(?:[^()]|\([^()]*\))*)\)\s*(?::\s*(?P<value>[01]))?")
_POINT = re.compile(r"\(?\s*(-?[\d.]+)\s*,\s*(-?[\d.]+)\s*,\s*(-?[\d.]+)\s*\)?")
_ON, _SWITCHED_ON, _SWITCHED_OFF = ("on", "inside", "in"), ("toggleon", "switchon"), ("toggleoff", "switchoff")
_S = ObjectState
_STATES: dict[str, tuple[ObjectState, ...]] = {
    **dict.fromkeys(("clean", "cleaned", "washed", "rinsed"), (_S.CLEANED,)),
    **dict.fromkeys(("sliced", "chopped", "cut"), (_S.SLICED,)),
    **dict.fromkeys(("cooked", "heated", "hot", "warm", "boiled"), (_S.COOKED, _S.HEATED)),
    **dict.fromkeys(("cold", "cooled", "chilled"), (_S.COLD,)),
    **dict.fromkeys(("open", "opened"), (_S.OPENED,)),
    **dict.fromkeys(("closed", "close"), (_S.CLOSED,)),
    **dict.fromkeys(("filled", "full"), (_S.FILLED,)),
    **dict.fromkeys(("empty", "emptied", "used_up"), (_S.USED_UP,)),
    **dict.fromkeys(("broken",), (_S.BROKEN,)),
    **dict.fromkeys(("on",), (_S.ON,)),
    **dict.fromkeys(("off",), (_S.OFF,)),
    **dict.fromkeys(("dirty",), (_S.DIRTY,)),
}
_PLACE_WITHIN_M, _BESIDE_WITHIN_M = 0.75, 0.6


@dataclass(frozen=True)
class Condition:
    """What must be true at some moment. classes: what the subject may be; malformed: why it never can be true."""

    text: str
    predicate: str = ""
    classes: frozenset[str] = frozenset()
    others: frozenset[str] = frozenset()
    states: tuple[ObjectState, ...] = ()
    point: tuple[float, float, float] | None = None
    malformed: str = ""

    def holds(self, world: World) -> bool:
        """Return whether it is true in the world now."""
        return not self.malformed and any(
            self._holds_of(world, thing) for thing in world if thing.class_name in self.classes
        )

    def _holds_of(self, world: World, thing: Thing) -> bool:
        if self.states:
            return bool(thing.states & set(self.states))
        if self.point is not None:
            apart = np.linalg.norm(thing.box.center[:2] - np.array(self.point[:2]))
            return bool(apart <= _PLACE_WITHIN_M) and world.held_id != thing.id
        if any(support.class_name in self.others for support in world.supports(thing)):
            return True
        beside = [other for other in world if other.class_name in self.others and not other.kind.is_receptacle]
        return world.held_id != thing.id and any(
            horizontal_distance(other.box, thing.box.center) <= _BESIDE_WITHIN_M
            for other in beside
            if other is not thing
        )


class ConditionReader:
    """Reads conditions against the classes that a world has."""

    def __init__(self, kinds: ObjectCatalogue) -> None:
        self._kinds = kinds

    def read(self, text: str, world: World) -> list[Condition]:
        """Return the conditions of a goal; what cannot be read is a malformed condition."""
        present = {thing.class_name for thing in world}
        conditions = [self._condition(match, present) for match in _CONDITION.finditer(text)]
        left = _CONDITION.sub("", text).strip(" ,;.\n")
        if left or not conditions:
            conditions.append(Condition(left or text, malformed="not a condition"))
        return conditions

    def mentioned(self, text: str) -> list[str]:
        """Return the best class of every argument in a goal's text: what a home needs for it."""
        names: list[str] = []
        for match in _CONDITION.finditer(text):
            for argument in match.group("arguments").split(","):
                names += self._kinds.spoken_names.classes(_head(argument))[:1]
        return list(dict.fromkeys(names))

    def _condition(self, match: re.Match[str], present: set[str]) -> Condition:
        text, predicate = match.group(0), match.group("name").lower()
        subject, _, other = match.group("arguments").partition(",")
        classes = self._classes(subject, present)
        if not classes:
            return Condition(text, malformed=f"the home has no {subject.strip()!r}")
        if predicate in _SWITCHED_ON + _SWITCHED_OFF:
            state = _S.ON if predicate in _SWITCHED_ON else _S.OFF
            return Condition(text, predicate, classes, states=(state,))
        if predicate == "state":
            states = _STATES.get(other.strip().lower(), ())
            problem = "" if states else f"{other.strip()!r} is no state"
            return Condition(text, predicate, classes, states=states, malformed=problem)
        if predicate not in _ON:
            return Condition(text, malformed=f"{match.group('name')!r} is no known predicate")
        if not any(self._kinds[name].pickupable for name in classes):
            return Condition(text, malformed=f"{subject.strip()!r} cannot be moved")
        point = _POINT.search(other)
        if point:
            x, y, z = position_from_thor([float(value) for value in point.groups()])
            return Condition(text, predicate, classes, point=(float(x), float(y), float(z)))
        others = self._classes(other, present)
        problem = "" if others else f"the home has no {other.strip()!r}"
        return Condition(text, predicate, classes, others, malformed=problem)

    def _classes(self, words: str, present: set[str]) -> frozenset[str]:
        """Return the home's classes that the words may mean, with the pieces that they may be cut into."""
        named = set(self._kinds.spoken_names.classes(_head(words)))
        named |= {self._kinds[name].slices for name in named if self._kinds[name].slices}
        found = named & present or self._kinds.alike(named) & present
        return frozenset(found | {name for name in named if self._kinds.whole(name) in present})


def _head(words: str) -> str:
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", words.strip())
    return " ".join(singular(word) for word in re.findall(r"[a-z]+", spaced.lower()))


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

"""Judges guidance by the engine's facts: which commands lie on a shortest way to the goal. Nobody else sees these."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import permutations

from memory_node.domain.errors import InvalidValueError

# A fact of the engine: its predicate and the names of its things.
Fact = tuple[str, ...]
_TYPE = re.compile(r"\(objectType \?o\d? (\w+)Type\)")
_LIGHT = re.compile(r"\(objectType \?ot (\w+)Type\)")
_PLACE = re.compile(r"\(receptacleType \?r (\w+)Type\)")
# What a goal wants of its object -> the verb that brings it about, and the type of the place for that.
_TREATMENTS = {"isClean": ("clean", "SinkBasin"), "isHot": ("heat", "Microwave"), "isCool": ("cool", "Fridge")}


@dataclass(frozen=True)
class Wanted:
    """The goal of a game: so many objects of a type, treated, in one place of a type; or one in the hand at a light."""

    target: str
    count: int = 1
    state: str = ""
    place: str = ""
    light: str = ""

    @classmethod
    def of(cls, problem: str) -> Wanted:
        """Return the goal of a PDDL problem.

        Raises:
            InvalidValueError: it is none of ALFWorld's six kinds.
        """
        goal = problem[problem.find("(:goal") :]
        target, place, light = _TYPE.search(goal), _PLACE.search(goal), _LIGHT.search(goal)
        if target is None or (place is None) == (light is None):
            raise InvalidValueError(f"no goal of ALFWorld: {goal[:200]!r}")
        state = next((name for name in _TREATMENTS if f"({name} ?o" in goal), "")
        count = 2 if "?o2" in goal else 1
        return cls(target[1], count, state, place[1] if place else "", light[1] if light else "")


@dataclass(frozen=True)
class _Act:
    """A command that is sent at a place; "" for being there. opens: a door must be open for it."""

    place: str
    command: str
    opens: bool = False


@dataclass
class GameFacts:
    """The state of a game. Names are those that the engine prints; locations are its own."""

    at: str = ""
    held: str = ""
    location: dict[str, str] = field(default_factory=dict)  # of places
    # Places of an object; a mug under a coffee machine is on the counter, too.
    lying: dict[str, list[str]] = field(default_factory=dict)
    types: dict[str, str] = field(default_factory=dict)
    states: set[tuple[str, str]] = field(default_factory=set)
    shut: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, facts: Iterable[Fact]) -> GameFacts:
        """Return what some facts tell."""
        found, opened = cls(), set()
        for predicate, *names in facts:
            if predicate == "atlocation":
                found.at = names[1]
            elif predicate == "holds":
                found.held = names[1]
            elif predicate == "receptacleatlocation":
                found.location[names[0]] = names[1]
            elif predicate == "inreceptacle":
                found.lying.setdefault(names[0], []).append(names[1])
            elif predicate in ("objecttype", "receptacletype"):
                found.types[names[0]] = names[1].removesuffix("type")
            elif predicate == "openable":
                found.shut.add(names[0])
            elif predicate == "opened":
                opened.add(names[0])
            elif names:
                found.states.add((predicate, names[0]))
        found.shut -= opened
        return found

    def of_type(self, name: str) -> list[str]:
        """Return the things of a type."""
        return [thing for thing, kind in self.types.items() if kind == name.lower()]


def shortest_commands(facts: GameFacts, wanted: Wanted) -> frozenset[str]:
    """Return every command with which a shortest way to the goal begins; empty where there is no way, or it is met."""
    best, firsts = math.inf, set[str]()
    for way in _ways(facts, wanted):
        for cost, first in _walked(facts, way, facts.at, frozenset()):
            if cost < best:
                best, firsts = cost, set()
            if cost == best:
                firsts.add(first)
    return frozenset(firsts - {""})


def _ways(facts: GameFacts, wanted: Wanted) -> Iterator[list[list[_Act]]]:
    """Yield what may be done, in order: alternatives for each act."""
    targets = facts.of_type(wanted.target)
    dropped = [] if not facts.held or facts.held in targets else [_put(facts, facts.held, facts.location)]
    if wanted.light:
        for target in [facts.held] if facts.held in targets else targets:
            take = [] if target == facts.held else [*dropped, _take(facts, target)]
            yield from _ways_to_light(facts, take, facts.of_type(wanted.light))
        return
    for place in facts.of_type(wanted.place):
        for chosen in _choices(facts, wanted, targets, place):
            yield [*dropped, *(act for thing in chosen for act in _brought(facts, thing, place, wanted))]


def _choices(facts: GameFacts, wanted: Wanted, targets: Sequence[str], place: str) -> Iterator[tuple[str, ...]]:
    """Yield the things that are still to be brought to a place, in each order."""
    there = [thing for thing in targets if place in facts.lying.get(thing, ()) and _is_ready(facts, thing, wanted)]
    others = [thing for thing in targets if thing not in there]
    for chosen in permutations(others, max(wanted.count - len(there), 0)):
        # Putting the held thing down first is never shorter than bringing it.
        if facts.held not in targets or facts.held in chosen[:1]:
            yield chosen


def _ways_to_light(facts: GameFacts, take: list[list[_Act]], lights: Sequence[str]) -> Iterator[list[list[_Act]]]:
    for light in lights:
        be_there = [_Act(place, "") for place in facts.lying.get(light, ())]
        if ("istoggled", light) in facts.states:
            yield [*take, be_there]
        else:
            use = [_Act(act.place, f"use {light}", opens=True) for act in be_there]
            yield [*take, use]
            yield [use, *take, be_there]


def _brought(facts: GameFacts, thing: str, place: str, wanted: Wanted) -> list[list[_Act]]:
    places = facts.lying.get(thing, [])
    # Taken from one of its places, it stays in the other.
    stays = thing != facts.held and place in places and len(places) > 1
    acts = [] if thing == facts.held else [_take(facts, thing, place if stays else "")]
    if not _is_ready(facts, thing, wanted):
        verb, appliance = _TREATMENTS[wanted.state]
        acts.append([_Act(one, f"{verb} {thing} with {one}") for one in facts.of_type(appliance)])
    return acts if stays else [*acts, _put(facts, thing, (place,))]


def _is_ready(facts: GameFacts, thing: str, wanted: Wanted) -> bool:
    return not wanted.state or (wanted.state.lower(), thing) in facts.states


def _take(facts: GameFacts, thing: str, but: str = "") -> list[_Act]:
    places = (place for place in facts.lying.get(thing, ()) if place != but)
    return [_Act(place, f"take {thing} from {place}", opens=True) for place in places]


def _put(facts: GameFacts, thing: str, places: Iterable[str]) -> list[_Act]:
    return [_Act(place, f"move {thing} to {place}", opens=True) for place in places]


def _walked(
    facts: GameFacts, way: Sequence[Sequence[_Act]], at: str, opened: frozenset[str]
) -> Iterator[tuple[float, str]]:
    """Yield the number of commands and the first of them, for each choice among a way's alternatives."""
    if not way:
        yield 0, ""
        return
    for act in way[0]:
        if act.place not in facts.location:
            continue
        there = facts.location[act.place]
        commands = [f"go to {act.place}"] if there != at else []
        is_shut = act.opens and act.place in facts.shut and act.place not in opened
        commands += [f"open {act.place}"] if is_shut else []
        commands += [act.command] if act.command else []
        rest = _walked(facts, way[1:], there, opened | {act.place} if is_shut else opened)
        for cost, first in rest:
            yield cost + len(commands), commands[0] if commands else first

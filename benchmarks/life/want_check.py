"""Says of what a step wants that it can never hold: things that do not fit, states no such thing has, contradictions.

It errs on the side of letting through: a robot may do before the step what no event tells.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from benchmarks.life import placing
from benchmarks.life.calls import plain
from benchmarks.life.day_file import Location
from benchmarks.life.day_form import Want
from benchmarks.life.judge import HAND_PLACE, is_said, things_meant
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.skill_declaration import Predicate
from memory_node.domain.skill_library import SKILLS
from memory_node.sim.thing import Thing
from memory_node.sim.world import World

Fault = tuple[Location, str]
# What is looked into on a search is no call of its own.
_UNCOUNTED = frozenset({"OpenObject"})
# Stands for any ending in a wanted word ("mug*"), so that it is one word to `is_said`.
_ANY_ENDING = "\u02bc"


def impossible(want: Want, world: World) -> Iterator[Fault]:
    """Yield what of a step can never hold in a home as the events leave it, whatever the robot does."""
    for name, place in want.at.items():
        if text := _never_at(world, name, place):
            yield ("at", name), text
    held = [name for name, place in want.at.items() if place == HAND_PLACE and placing.pieces_of(world, name)]
    if len(held) > 1:
        yield ("at", held[1]), f"the hand holds one thing, not {' and '.join(held)}"
    for name, states in want.state.items():
        things = _may_be(world, name)
        for one in states:
            if one.holds and not any(one.state in thing.states or placing.can_be(thing, one.state) for thing in things):
                yield ("state", name), f"{name} can never be {one.state}"
        for one, other in combinations(states, 2):
            opposed = other.state in one.state.opposites if one.holds and other.holds else one.state is other.state
            if opposed and one != other and name in world:
                yield ("state", name), f"{name} cannot be both {one} and {other}"
    yield from _calls(want, world)
    for number, words in enumerate(want.says):
        if all(any(is_said(silent, _as_word(one)) for silent in want.silent_on) for one in words):
            yield ("says", number), f"silent_on forbids to say {' | '.join(words)}"


def _may_be(world: World, name: str) -> Sequence[Thing]:
    """Return the things that a name means, or those that are cut into such things."""
    return things_meant(world, name) or [thing for thing in world if thing.kind.slices == name]


def _never_at(world: World, name: str, place: str) -> str:
    """Return why a thing can never be at a place, "" where it can."""
    things = _may_be(world, name)
    if not things:
        return f"there is no {name} then"
    if place == HAND_PLACE:
        return "" if any(thing.kind.pickupable for thing in things) else f"a hand cannot take {name}"
    if place not in world and placing.room_called(world, place) is not None:
        return ""
    places = things_meant(world, place)
    if not places:
        return f"there is no {place} then"
    why = [_never_on(world, thing, support) for thing in things for support in places]
    return "" if "" in why else why[0]


def _never_on(world: World, thing: Thing, support: Thing) -> str:
    """Return why a thing can never be directly on or in another, "" where it can or is."""
    if thing.parent_id == support.id:
        return ""
    if not thing.kind.pickupable:
        return f"{thing.id} is nothing that can be put at {support.id}"
    # A piece may fit where the whole does not.
    if placing.is_person(support) or (thing.kind.slices and support.kind.is_receptacle):
        return ""
    try:
        placing.receptacle_called(world, support.id, thing)
    except InvalidValueError as error:
        return str(error)
    return ""


def _calls(want: Want, world: World) -> Iterator[Fault]:
    for number, call in enumerate(want.calls):
        skill, *names = call.split()
        for name in names:
            if not placing.pieces_of(world, placing.whole_of(name)):
                yield ("calls", number), f"there is no thing {name!r} any more"
        things = [thing for name in names for thing in placing.pieces_of(world, placing.whole_of(name))]
        if things and not any(_takes(skill, thing) for thing in things):
            yield ("calls", number), f"{skill} can never be done with {' '.join(names)}"
        if any(_covers(one, call) for one in want.no_calls):
            yield ("calls", number), f"no_calls forbids {call}"
    counted = {plain(call.split()[0]) for call in want.calls} - _UNCOUNTED
    if want.most_calls is not None and len(counted) > want.most_calls:
        yield ("most_calls",), f"{len(counted)} calls are wanted"
    if want.most_searches == 0 and "Explore" in counted:
        yield ("most_searches",), "Explore is wanted, which is a search"


def _takes(skill: str, thing: Thing) -> bool:
    """Return whether a thing can be one of a skill's arguments, as far as its kind decides."""
    declared = SKILLS[skill]
    facts = [rule.fact for rule in declared.preconditions if rule.fact.predicate is Predicate.KIND]
    if skill == "PutObject" and (thing.kind.pickupable or placing.is_person(thing)):
        return True
    first = [fact for fact in facts if fact.arguments[0] == declared.arguments[0].name]
    others = declared.composite or len(declared.arguments) > 1
    if others and thing.fixed and skill != "PutObject":
        return True  # the appliance or the source
    return all(thing.kind.satisfies(fact.ability) for fact in (first or facts))


def _covers(forbidden: str, call: str) -> bool:
    """Return whether whatever fits a wanted call fits a forbidden one."""
    skill, *things = forbidden.split()
    wanted, *others = call.split()
    return plain(skill) == plain(wanted) and set(things) <= set(others)


def _as_word(text: str) -> str:
    return text.replace("*", _ANY_ENDING)

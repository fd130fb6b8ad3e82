"""The one meaning of each declared fact: whether it is so in a state, what is taken for granted where nobody knows, how
its absence is said, and which skill makes it so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memory_node.domain.skill_declaration import Fact, Predicate
from memory_node.domain.states import ObjectState
from memory_node.world.state import Thing, WorldState

# Whether it is so: None where nobody knows. Things are those bound to the fact's arguments.
Truth = Callable[[Fact, Sequence[Thing], WorldState], bool | None]
# What a planner takes it for where nobody knows.
Assumption = Callable[[Fact, Sequence[Thing], WorldState], bool]
# Why it does not hold, in words.
Words = Callable[[Fact, Sequence[Thing], WorldState], str]


@dataclass(frozen=True)
class Meaning:
    """What a predicate means. established_by: the skill that makes it so of its first argument, "" for none."""

    truth: Truth
    missing: Words
    assumed: Assumption = lambda _fact, _things, _state: False
    established_by: str = ""


def truth(fact: Fact, things: Sequence[Thing], state: WorldState) -> bool | None:
    """Return whether a fact about things holds; None where nobody knows."""
    found = MEANINGS[fact.predicate].truth(fact, things, state)
    return None if found is None else found is fact.value


def holds(fact: Fact, things: Sequence[Thing], state: WorldState) -> bool:
    """Return whether a fact is taken to hold by somebody who plans: what nobody knows is as it usually is."""
    meaning = MEANINGS[fact.predicate]
    found = meaning.truth(fact, things, state)
    return (meaning.assumed(fact, things, state) if found is None else found) is fact.value


def prepared(fact: Fact, keys: tuple[str, ...]) -> Callable[[WorldState], bool]:
    """Return `holds` for a fact about some things of a state, to be asked of many states."""
    meaning, value = MEANINGS[fact.predicate], fact.value
    truth_of, assumed = meaning.truth, meaning.assumed

    def is_so(state: WorldState) -> bool:
        things = [state.things[key] for key in keys]
        found = truth_of(fact, things, state)
        return (assumed(fact, things, state) if found is None else found) is value

    return is_so


def missing(fact: Fact, things: Sequence[Thing], state: WorldState) -> str:
    """Return in words why a fact does not hold."""
    return MEANINGS[fact.predicate].missing(fact, things, state)


# --- the hand


def _is_held(_fact: Fact, things: Sequence[Thing], state: WorldState) -> bool | None:
    return is_same(state.held, things[0], state)


def is_same(key: str | None, thing: Thing, state: WorldState) -> bool | None:
    """Return whether a key stands for a thing; None where one is known by its class alone, or by an id alone."""
    if key is None:
        return None
    other = state.things.get(key)
    if key == thing.id or other is None:
        return key == thing.id
    is_certain = bool(other.identities and thing.identities)
    classes = {other.object_class, thing.object_class}
    return False if is_certain or len(classes - {""}) == 2 else None


def _holds_tool(fact: Fact, _things: Sequence[Thing], state: WorldState) -> bool | None:
    if not state.held:
        return None if state.held is None else False
    object_class = state.things[state.held].object_class
    return state.kinds[object_class].satisfies(fact.ability) if object_class else None


def _in_hand(state: WorldState) -> str:
    held = state.things.get(state.held or "")
    return _said(held) if held is not None else "nothing"


def _needs_tool(fact: Fact, _things: Sequence[Thing], state: WorldState) -> str:
    tools = [kind.name for kind in state.kinds if kind.satisfies(fact.ability)]
    wanted = " or ".join(tools[:3]) or f"a tool that {fact.ability}"
    return f"the hand holds {_in_hand(state)}, not {wanted}"


# --- places


def _is_near(_fact: Fact, things: Sequence[Thing], state: WorldState) -> bool | None:
    key = things[0].id
    if key in (state.held, state.at) or key in state.within:
        return True
    if key in state.apart:
        return False
    if state.at is None:
        return None
    # What is on one support is mostly in reach together.
    return None if state.at and state.root_of(key) == state.root_of(state.at) else False


def _shares_support(_fact: Fact, things: Sequence[Thing], state: WorldState) -> bool:
    return bool(state.at) and state.root_of(things[0].id) == state.root_of(state.at or "")


def _is_contained(_fact: Fact, things: Sequence[Thing], state: WorldState) -> bool | None:
    if things[0].id == state.held:
        return False
    outer = state.container_of(things[0].id)
    if not outer:
        return None
    return True if len(things) == 1 else outer == things[1].id


def _is_open(_fact: Fact, things: Sequence[Thing], state: WorldState) -> bool | None:
    return is_open(things[0], state)


def is_open(thing: Thing, state: WorldState) -> bool | None:
    """Return whether things can be put in or on a thing, and taken from it, now."""
    if thing.door is ObjectState.OPENED:
        return True
    kind = state.kinds.get(thing.object_class)
    if thing.door is ObjectState.CLOSED:
        # What lies on a closed toilet or book is in the open.
        return kind is not None and not kind.holds_inside
    return True if kind is not None and not kind.lidded else None


def _is_unlidded(_fact: Fact, things: Sequence[Thing], state: WorldState) -> bool:
    return not state.kinds[things[0].object_class].lidded


def _is_accessible(_fact: Fact, things: Sequence[Thing], state: WorldState) -> bool | None:
    if things[0].id == state.held:
        return True
    known: bool | None = None
    for thing, outer in state.around(things[0].id):
        if thing.inside is not False:
            opened = is_open(outer, state)
            if opened is False:
                return False
            known = opened
    return known


def closed_around(thing: Thing, state: WorldState) -> Thing | None:
    """Return what a thing is shut in, the innermost that is closed; None where it is in the open or nobody knows."""
    if thing.id == state.held:
        return None
    shut = (
        outer for one, outer in state.around(thing.id) if one.inside is not False and is_open(outer, state) is False
    )
    return next(shut, None)


def _seems_accessible(_fact: Fact, things: Sequence[Thing], state: WorldState) -> bool:
    """Behind a door of which nobody knows whether it is open, nothing is reached."""
    return all(
        one.inside is False or is_open(outer, state) or not state.kinds[outer.object_class].lidded
        for one, outer in state.around(things[0].id)
    )


def _shut_in(_fact: Fact, things: Sequence[Thing], state: WorldState) -> str:
    container = closed_around(things[0], state)
    where = f"{_said(container)}, which is closed" if container is not None else "something closed"
    return f"{_said(things[0])} is inside {where}"


# --- the thing itself


def _is_of_kind(fact: Fact, things: Sequence[Thing], state: WorldState) -> bool | None:
    thing = things[0]
    if not thing.object_class:
        # Known by an id alone: what was found closed can be opened.
        return fact.ability == "openable" if thing.door is not None else None
    kind = state.kinds.find(thing.object_class)
    return kind.satisfies(fact.ability) if kind is not None else None


def _usual_kind(fact: Fact, things: Sequence[Thing], state: WorldState) -> bool:
    return state.kinds[things[0].object_class].satisfies(fact.ability)


def _has_state(fact: Fact, things: Sequence[Thing], _state: WorldState) -> bool | None:
    assert fact.state is not None
    return things[0].has(fact.state)


def _wrong_state(fact: Fact, things: Sequence[Thing], _state: WorldState) -> str:
    return f"{_said(things[0])} is {'not ' if fact.value else ''}{fact.state}{'' if fact.value else ' already'}"


def _said(thing: Thing) -> str:
    """Return a thing's name ("Mug 2"); its class where it has an id of the robot's for a key."""
    return thing.id if thing.id.rpartition(" ")[0] == thing.object_class else thing.object_class or thing.id


_P = Predicate
MEANINGS: dict[Predicate, Meaning] = {
    _P.HAND_EMPTY: Meaning(
        lambda _fact, _things, state: None if state.held is None else not state.held,
        lambda _fact, _things, state: f"the hand holds {_in_hand(state)} already",
        lambda _fact, _things, _state: True,
    ),
    _P.HOLDING: Meaning(
        _is_held,
        lambda _fact, things, state: f"the hand holds {_in_hand(state)}, not {_said(things[0])}",
        established_by="PickupObject",
    ),
    _P.HOLDING_TOOL: Meaning(_holds_tool, _needs_tool),
    _P.NEAR: Meaning(
        _is_near,
        lambda _fact, things, _state: f"{_said(things[0])} is out of reach from here",
        _shares_support,
        established_by="GoToObject",
    ),
    _P.KNOWN: Meaning(
        lambda _fact, _things, _state: None,
        lambda _fact, things, _state: f"nobody knows where {_said(things[0])} is",
        lambda _fact, _things, _state: True,
    ),
    _P.ACCESSIBLE: Meaning(_is_accessible, _shut_in, _seems_accessible),
    _P.OPEN_OR_UNLIDDED: Meaning(
        _is_open,
        lambda _fact, things, _state: f"{_said(things[0])} is closed",
        _is_unlidded,
        established_by="OpenObject",
    ),
    _P.CONTAINED: Meaning(_is_contained, lambda _fact, things, _state: f"{_said(things[0])} is elsewhere"),
    _P.STATE: Meaning(_has_state, _wrong_state),
    _P.KIND: Meaning(
        _is_of_kind,
        lambda fact, things, _state: f"{_said(things[0])} is {'not ' if fact.value else ''}{fact.ability}",
        _usual_kind,
    ),
}

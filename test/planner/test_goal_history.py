"""Ordered goals are met when each was met in its order, and the last wish about each thing holds at the end."""

from collections.abc import Sequence

import pytest

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.skill_library import GoalKind
from memory_node.domain.states import ObjectState
from memory_node.planner.goal import Goal, GoalCheck, GoalHistory, Mention
from memory_node.world.state import Thing, WorldState

K, S = GoalKind, ObjectState
MUG, BURNER = Mention("mug", ("Mug",)), Mention("burner", ("StoveBurner",))
LETTUCE, APPLE = Mention("lettuce", ("Lettuce",)), Mention("apple", ("Apple",))
SINK, PLATE, FRIDGE = Mention("sink", ("SinkBasin",)), Mention("plate", ("Plate",)), Mention("fridge", ("Fridge",))
FURNITURE = tuple(Thing(name, name) for name in ("SinkBasin", "Plate", "Fridge", "CounterTop"))


def seen(*things: Thing, held: str = "") -> GoalCheck:
    in_hand = [Thing("held", held)] if held else []
    return GoalCheck(WorldState.of_things(load_catalogue(), (*FURNITURE, *things, *in_hand), "held" if held else ""))


def thing(name: str, *states: ObjectState, place: str = "CounterTop") -> Thing:
    return Thing(name, name, container=place, states=frozenset(states))


def unmet(goals: Sequence[Goal], *moments: GoalCheck) -> tuple[bool, ...]:
    """Return which goals are not met after some moments."""
    history = GoalHistory(goals, load_catalogue())
    for moment in moments[:-1]:
        history.watch(moment)
    return tuple(map(bool, history.judge(moments[-1]).reasons))


FILL_AND_EMPTY = (Goal(K.FILL, MUG), Goal(K.EMPTY, MUG))


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        ((S.FILLED, S.USED_UP), (False, False)),
        ((S.USED_UP,), (True, True)),
        ((S.USED_UP, S.FILLED), (False, True)),
    ],
)
def test_what_was_filled_and_emptied_is_not_wanted_full(
    states: tuple[ObjectState, ...], expected: tuple[bool, bool]
) -> None:
    assert unmet(FILL_AND_EMPTY, *(seen(thing("Mug", state)) for state in states)) == expected


def test_thing_is_not_wanted_in_two_places_at_once() -> None:
    goals = (Goal(K.PLACE, LETTUCE, SINK), Goal(K.PLACE, LETTUCE, PLATE))
    in_sink, on_plate = (seen(thing("Lettuce", place=place)) for place in ("SinkBasin", "Plate"))
    assert unmet(goals, in_sink, on_plate) == (False, False)
    assert unmet(goals, in_sink) == (False, True)
    assert unmet(goals, on_plate) == (True, True)


def test_burner_that_was_on_in_between_is_off_at_the_end() -> None:
    goals = (Goal(K.SWITCH_ON, BURNER), Goal(K.SWITCH_OFF, BURNER))
    assert unmet(goals, seen(thing("StoveBurner", S.ON)), seen(thing("StoveBurner", S.OFF))) == (False, False)


def test_last_wish_about_a_thing_must_hold_at_the_end() -> None:
    goals = (Goal(K.CLEAN, APPLE, FRIDGE), Goal(K.SWITCH_ON, BURNER))
    done = seen(thing("Apple", S.CLEANED, place="Fridge"), thing("StoveBurner", S.ON))
    undone = seen(thing("Apple", S.CLEANED), thing("StoveBurner", S.ON))
    assert unmet(goals, done) == (False, False)
    assert unmet(goals, done, undone) == (True, False)


def test_state_stays_wanted_where_only_the_place_is_taken_back() -> None:
    goals = (Goal(K.COOL, APPLE, FRIDGE), Goal(K.PLACE, APPLE, PLATE))
    cold, on_plate = thing("Apple", S.COLD, place="Fridge"), thing("Apple", S.COLD, place="Plate")
    assert unmet(goals, seen(cold), seen(on_plate)) == (False, False)
    assert unmet(goals, seen(cold), seen(thing("Apple", place="Plate"))) == (True, False)


def test_goals_about_different_things_may_be_met_in_any_order() -> None:
    goals = (Goal(K.SWITCH_ON, BURNER), Goal(K.PLACE, APPLE, FRIDGE))
    placed = thing("Apple", place="Fridge")
    assert unmet(goals, seen(placed), seen(placed, thing("StoveBurner", S.ON))) == (False, False)


def test_goal_about_an_apple_is_about_its_pieces_after_it_was_cut() -> None:
    slice_ = Thing("slice", "AppleSliced", container="Fridge", states=frozenset({S.SLICED, S.HEATED}))
    goals = (Goal(K.SLICE, APPLE), Goal(K.HEAT, APPLE), Goal(K.PLACE, APPLE, FRIDGE))
    assert unmet(goals, seen(slice_)) == (False, False, False)
    assert unmet(goals[2:], seen(slice_, thing("Apple"))) == (True,)


def test_a_container_may_be_carried_on_and_keeps_what_is_in_it() -> None:
    goals = (Goal(K.STACK, APPLE, SINK, PLATE), Goal(K.PLACE, PLATE, FRIDGE))

    def at(place: str, apple: str) -> GoalCheck:
        return seen(Thing("Plate", "Plate", container=place), Thing("Apple", "Apple", container=apple))

    assert unmet(goals, at("SinkBasin", "Plate"), at("Fridge", "Plate")) == (False, False)
    assert unmet(goals, at("SinkBasin", "Plate"), at("Fridge", "CounterTop")) == (True, False)
    assert unmet(goals, at("SinkBasin", "Plate"), at("CounterTop", "Plate")) == (False, True)

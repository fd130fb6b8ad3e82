"""Goals are judged by what memory believes, not by what the last skill said: ordered ones are met when each was met in
its order, and the last wish about each thing holds at the end."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from tiny_home import TinyThing

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.geometry import OrientedBox
from memory_node.domain.skill_library import GoalKind
from memory_node.domain.states import ObjectState
from memory_node.planner.goal import Goal, GoalCheck, GoalHistory, Mention
from memory_node.world.remembered import remembered
from memory_node.world.state import Thing, WorldState

APPLE, MUG, PLATE = (Mention(name, (name,)) for name in ("Apple", "Mug", "Plate"))
FRIDGE, TABLE = Mention("fridge", ("Fridge",)), Mention("table", ("DiningTable",))


def unmet(home, goal: Goal) -> str:
    return GoalCheck(remembered(home.scene(), load_catalogue(), home.held)).unmet(goal)


def check_of(*things: Thing) -> GoalCheck:
    return GoalCheck(WorldState.of_things(load_catalogue(), things))


def test_place_is_met_only_where_the_thing_lies_there(kitchen) -> None:
    goal = Goal(GoalKind.PLACE, APPLE, FRIDGE)
    assert unmet(kitchen, goal) == "no Apple of 1 in or on Fridge"
    kitchen.things["m-apple"].support_id = "m-fridge"
    assert unmet(kitchen, goal) == ""


def test_what_was_heated_yesterday_is_to_be_heated_again(kitchen) -> None:
    kitchen.things["m-apple"].states.add(ObjectState.HEATED)
    scene = kitchen.scene()
    heat = Goal(GoalKind.HEAT, APPLE)
    for later_s, said in ((600, ""), (86_400, "no Apple is cooked or heated")):
        later = replace(scene, stamp_ns=later_s * 10**9)
        assert GoalCheck(remembered(later, load_catalogue())).unmet(heat) == said


def test_table_may_be_stood_in_for(kitchen) -> None:
    assert unmet(kitchen, Goal(GoalKind.PLACE, APPLE, TABLE)) == ""


def test_nothing_stands_in_for_a_table_that_is_known(kitchen) -> None:
    kitchen.things["m-dining"] = TinyThing("m-dining", "DiningTable")
    assert unmet(kitchen, Goal(GoalKind.PLACE, APPLE, TABLE)) == "no Apple of 1 in or on DiningTable"


def test_thing_in_a_persons_lap_has_been_handed_over(kitchen) -> None:
    goal = Goal(GoalKind.PLACE, APPLE, Mention("me", ("User",)))
    scene = kitchen.scene()
    apple = next(one for one in scene.objects if one.id == "m-apple")
    lap = OrientedBox(np.array([0.0, 0.0, 0.6]), np.array([0.5, 0.6, 1.2]))
    person = replace(apple, id="user", class_probabilities={"User": 1.0}, box=lap, support_id="")

    def at(x_m: float, support_id: str = "") -> str:
        box = OrientedBox(np.array([x_m, 0.1, 0.55]), np.full(3, 0.1))
        table = replace(person, id="table", class_probabilities={"DiningTable": 1.0}, box=box)
        objects = (person, table, replace(apple, box=box, support_id=support_id))
        return GoalCheck(remembered(replace(scene, objects=objects), load_catalogue())).unmet(goal)

    assert at(0.2) == ""
    assert at(0.6) == "no Apple of 1 in or on User"
    assert at(0.2, "user") == ""
    assert at(0.2, "table") != "", "it lies on something else"


def test_thing_in_the_hand_is_not_placed(kitchen) -> None:
    kitchen.held = "m-apple"
    assert unmet(kitchen, Goal(GoalKind.PLACE, APPLE, TABLE)) == "the hand still holds Apple"


def test_two_want_two(kitchen) -> None:
    goal = Goal(GoalKind.PLACE_TWO, MUG, FRIDGE, count=2)
    assert unmet(kitchen, goal) == "1 Mug of 2 in or on Fridge"
    kitchen.things["m-mug1"].support_id = "m-fridge"
    assert unmet(kitchen, goal) == ""


def test_two_want_the_same_place_unless_the_words_name_several(kitchen) -> None:
    kitchen.things["m-fridge2"] = TinyThing("m-fridge2", "Fridge")
    kitchen.things["m-mug1"].support_id = "m-fridge2"
    goal = Goal(GoalKind.PLACE_TWO, MUG, FRIDGE, count=2)
    assert unmet(kitchen, goal) == "1 Mug of 2 in or on Fridge"
    anywhere = goal.changed(destination=Mention("the fridges", ("Fridge",)))
    assert unmet(kitchen, anywhere) == ""


def test_clean_wants_the_state_and_the_place_of_the_same_thing(kitchen) -> None:
    goal = Goal(GoalKind.CLEAN, MUG, FRIDGE)
    assert unmet(kitchen, goal) == "no Mug is cleaned"
    kitchen.things["m-mug1"].states = {ObjectState.CLEANED}
    assert unmet(kitchen, goal) == "no Mug of 1 in or on Fridge", "the one in the fridge is another one"
    kitchen.things["m-mug1"].support_id = "m-fridge"
    assert unmet(kitchen, goal) == ""


def test_stack_wants_the_vessel_there_and_the_thing_in_it(kitchen) -> None:
    goal = Goal(GoalKind.STACK, APPLE, FRIDGE, container=MUG)
    assert unmet(kitchen, goal) == "no Apple is in or on Mug"
    kitchen.things["m-apple"].support_id = "m-mug2"
    assert unmet(kitchen, goal) == ""


def test_fetch_and_examine_want_the_hand(kitchen) -> None:
    assert unmet(kitchen, Goal(GoalKind.FETCH, APPLE)) == "the hand holds nothing, not Apple"
    kitchen.held = "m-apple"
    assert unmet(kitchen, Goal(GoalKind.FETCH, APPLE)) == ""
    lamp = Mention("lamp", ("DeskLamp",))
    assert unmet(kitchen, Goal(GoalKind.EXAMINE, APPLE, light=lamp)) == "DeskLamp is not on"


def test_slice_wants_pieces(kitchen) -> None:
    goal = Goal(GoalKind.SLICE, APPLE)
    of_the_pieces = Goal(GoalKind.SLICE, Mention("AppleSliced", ("AppleSliced",)))
    assert unmet(kitchen, goal) == "no Apple is cut"
    assert unmet(kitchen, of_the_pieces) == "no AppleSliced is cut"
    kitchen.things["m-apple"].object_class = "AppleSliced"
    assert unmet(kitchen, goal) == unmet(kitchen, of_the_pieces) == ""


@pytest.mark.parametrize(
    ("kind", "state"),
    [
        (GoalKind.OPEN, ObjectState.OPENED),
        (GoalKind.CLOSE, ObjectState.CLOSED),
        (GoalKind.SWITCH_ON, ObjectState.ON),
        (GoalKind.BREAK, ObjectState.BROKEN),
    ],
)
def test_states_are_wanted_as_named(kitchen, kind: GoalKind, state: ObjectState) -> None:
    goal = Goal(kind, FRIDGE)
    assert str(state) in unmet(kitchen, goal)
    kitchen.things["m-fridge"].states = {state}
    assert unmet(kitchen, goal) == ""


def test_what_is_broken_may_be_gone_and_what_is_thrown_is_not_held(kitchen) -> None:
    assert unmet(kitchen, Goal(GoalKind.BREAK, PLATE)) == ""
    kitchen.held = "m-apple"
    assert unmet(kitchen, Goal(GoalKind.THROW, APPLE)) == "the hand still holds Apple"
    kitchen.held = ""
    assert unmet(kitchen, Goal(GoalKind.THROW, APPLE)) == ""


def test_what_memory_cannot_tell_is_taken_for_done(kitchen) -> None:
    assert unmet(kitchen, Goal(GoalKind.FIND, PLATE)) == ""
    assert unmet(kitchen, Goal(GoalKind.PLACE, APPLE, Mention("back", original_place=True))) == ""


@pytest.mark.parametrize(
    "place", [Mention("back", original_place=True), replace(TABLE, beside=True), Mention("", room="hall"), FRIDGE]
)
def test_what_is_in_the_hand_is_not_put_down(kitchen, place: Mention) -> None:
    kitchen.held = "m-apple"
    assert unmet(kitchen, Goal(GoalKind.PLACE, APPLE, place)) == "the hand still holds Apple"


def test_all_things_of_a_room_are_those_in_it() -> None:
    fridge = Thing("fridge", "Fridge", room="Kitchen")
    there, elsewhere = Thing("a", "Apple", room="Bedroom"), Thing("b", "Apple", room="Hall")
    goal = Goal(GoalKind.PLACE, replace(APPLE, room="bedroom"), FRIDGE, every=True)

    def check(*things: Thing) -> GoalCheck:
        return check_of(fridge, *things)

    assert check(there, elsewhere).unmet(goal) == "1 Apple not in or on Fridge"
    assert check(replace(there, container="fridge", room="Kitchen"), elsewhere).unmet(goal) == ""
    # Where no room is called so, one without a name of its own may be it.
    nowhere = goal.changed(target=replace(APPLE, room="cellar"))
    assert check(there, elsewhere).unmet(nowhere) == "no Apple is known in the cellar"
    assert check(there, replace(elsewhere, room="room 2")).unmet(nowhere) == "1 Apple not in or on Fridge"


def test_state_for_all_things_is_wanted_of_each_that_is_meant() -> None:
    window = Mention("windows", ("Window",))
    shut, other = Thing("a", "Window", states=frozenset({ObjectState.CLOSED})), Thing("b", "Window")
    opened = replace(other, states=frozenset({ObjectState.OPENED}), room="Hall")

    def said(goal: Goal, *things: Thing) -> str:
        return check_of(*things).unmet(goal)

    goal = Goal(GoalKind.CLOSE, window, every=True)
    assert said(goal, other) == "no Window is closed"
    assert said(goal, shut, other) == said(goal, shut, opened) == "1 Window not closed"
    assert said(goal, shut) == ""
    assert said(goal.changed(every=False), shut, opened) == ""
    of_room = goal.changed(target=replace(window, room="bedroom"))
    assert said(of_room, replace(shut, room="Bedroom"), opened) == ""
    opened_ones = goal.changed(target=replace(window, states=(ObjectState.OPENED,)))
    assert said(opened_ones, shut, other) == ""
    assert said(opened_ones, shut, opened) == "1 Window not closed"


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


def left_unmet(goals: Sequence[Goal], *moments: GoalCheck) -> tuple[bool, ...]:
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
    assert left_unmet(FILL_AND_EMPTY, *(seen(thing("Mug", state)) for state in states)) == expected


def test_thing_is_not_wanted_in_two_places_at_once() -> None:
    goals = (Goal(K.PLACE, LETTUCE, SINK), Goal(K.PLACE, LETTUCE, PLATE))
    in_sink, on_plate = (seen(thing("Lettuce", place=place)) for place in ("SinkBasin", "Plate"))
    assert left_unmet(goals, in_sink, on_plate) == (False, False)
    assert left_unmet(goals, in_sink) == (False, True)
    assert left_unmet(goals, on_plate) == (True, True)


def test_burner_that_was_on_in_between_is_off_at_the_end() -> None:
    goals = (Goal(K.SWITCH_ON, BURNER), Goal(K.SWITCH_OFF, BURNER))
    assert left_unmet(goals, seen(thing("StoveBurner", S.ON)), seen(thing("StoveBurner", S.OFF))) == (False, False)


def test_last_wish_about_a_thing_must_hold_at_the_end() -> None:
    goals = (Goal(K.CLEAN, APPLE, FRIDGE), Goal(K.SWITCH_ON, BURNER))
    done = seen(thing("Apple", S.CLEANED, place="Fridge"), thing("StoveBurner", S.ON))
    undone = seen(thing("Apple", S.CLEANED), thing("StoveBurner", S.ON))
    assert left_unmet(goals, done) == (False, False)
    assert left_unmet(goals, done, undone) == (True, False)


def test_state_stays_wanted_where_only_the_place_is_taken_back() -> None:
    goals = (Goal(K.COOL, APPLE, FRIDGE), Goal(K.PLACE, APPLE, PLATE))
    cold, on_plate = thing("Apple", S.COLD, place="Fridge"), thing("Apple", S.COLD, place="Plate")
    assert left_unmet(goals, seen(cold), seen(on_plate)) == (False, False)
    assert left_unmet(goals, seen(cold), seen(thing("Apple", place="Plate"))) == (True, False)


def test_goals_about_different_things_may_be_met_in_any_order() -> None:
    goals = (Goal(K.SWITCH_ON, BURNER), Goal(K.PLACE, APPLE, FRIDGE))
    placed = thing("Apple", place="Fridge")
    assert left_unmet(goals, seen(placed), seen(placed, thing("StoveBurner", S.ON))) == (False, False)


def test_goal_about_an_apple_is_about_its_pieces_after_it_was_cut() -> None:
    slice_ = Thing("slice", "AppleSliced", container="Fridge", states=frozenset({S.SLICED, S.HEATED}))
    goals = (Goal(K.SLICE, APPLE), Goal(K.HEAT, APPLE), Goal(K.PLACE, APPLE, FRIDGE))
    assert left_unmet(goals, seen(slice_)) == (False, False, False)
    assert left_unmet(goals[2:], seen(slice_, thing("Apple"))) == (True,)


def test_a_container_may_be_carried_on_and_keeps_what_is_in_it() -> None:
    goals = (Goal(K.STACK, APPLE, SINK, PLATE), Goal(K.PLACE, PLATE, FRIDGE))

    def at(place: str, apple: str) -> GoalCheck:
        return seen(Thing("Plate", "Plate", container=place), Thing("Apple", "Apple", container=apple))

    assert left_unmet(goals, at("SinkBasin", "Plate"), at("Fridge", "Plate")) == (False, False)
    assert left_unmet(goals, at("SinkBasin", "Plate"), at("Fridge", "CounterTop")) == (True, False)
    assert left_unmet(goals, at("SinkBasin", "Plate"), at("CounterTop", "Plate")) == (False, True)

"""Which calls do what a goal asks for."""

from dataclasses import replace

import pytest

from benchmarks.ranking.goal_progress import fulfils, is_in_vain
from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.goal_labels import GoalKind
from memory_node.domain.skill import SkillCall
from memory_node.domain.states import ObjectState
from memory_node.planner.goal import Goal, Mention
from memory_node.world.state import Thing, WorldState

K = GoalKind
APPLE, FRIDGE, BOWL = Mention("apple", ("Apple",)), Mention("fridge", ("Fridge",)), Mention("bowl", ("Bowl",))
LAMP = Mention("lamp", ("DeskLamp",))


def belief(
    *names: str,
    states: tuple[tuple[str, ObjectState], ...] = (),
    held: str = "",
    inside: tuple[tuple[str, str], ...] = (),
) -> WorldState:
    state = WorldState.of_things(load_catalogue(), [Thing(name, name.split()[0], name) for name in names])
    for name, one in states:
        state = state.with_state(name, one)
    for inner, outer in inside:
        state = state.put(inner, outer)
    return state.holding(held) if held else state


HOME = ("Apple", "Bowl", "Fridge", "CounterTop", "Knife", "DeskLamp", "SinkBasin", "Microwave")


@pytest.mark.parametrize(
    ("goal", "skill", "arguments"),
    [
        (Goal(K.PLACE, APPLE, FRIDGE), "PutObject", ("Apple", "Fridge")),
        (Goal(K.STACK, APPLE, FRIDGE, BOWL), "PutObject", ("Apple", "Bowl")),
        (Goal(K.SLICE, APPLE), "SliceObject", ("Apple",)),
        (Goal(K.PLACE, APPLE, FRIDGE, sliced=True), "SliceObject", ("Apple",)),
        (Goal(K.CLEAN, APPLE), "CleanObject", ("Apple", "SinkBasin")),
        (Goal(K.FETCH, APPLE), "PickupObject", ("Apple",)),
        (Goal(K.SWITCH_ON, LAMP), "ToggleOn", ("DeskLamp",)),
        (Goal(K.EXAMINE, APPLE, light=LAMP), "SwitchOn", ("DeskLamp",)),
        (Goal(K.OPEN, FRIDGE), "OpenObject", ("Fridge",)),
    ],
)
def test_call_does_what_the_goal_asks_for(goal: Goal, skill: str, arguments: tuple[str, ...]) -> None:
    assert fulfils(SkillCall(skill, arguments), goal, belief(*HOME))


@pytest.mark.parametrize(
    ("goal", "skill", "arguments"),
    [
        (Goal(K.PLACE, APPLE, FRIDGE), "PutObject", ("Apple", "CounterTop")),
        (Goal(K.PLACE, APPLE, FRIDGE), "PutObject", ("Bowl", "Fridge")),
        (Goal(K.PLACE, APPLE, FRIDGE), "PickupObject", ("Apple",)),
        (Goal(K.STACK, APPLE, FRIDGE, BOWL), "PutObject", ("Apple", "Fridge")),
        (Goal(K.CLEAN, APPLE, FRIDGE), "PutObject", ("Apple", "Fridge")),
        (Goal(K.PLACE, APPLE, replace(FRIDGE, beside=True)), "PutObject", ("Apple", "Fridge")),
        (Goal(K.PLACE, APPLE, FRIDGE, sliced=True), "PutObject", ("Apple", "Fridge")),
        (Goal(K.PLACE, APPLE, FRIDGE), "SliceObject", ("Apple",)),
        (Goal(K.HEAT, APPLE), "CoolObject", ("Apple", "Fridge")),
        (Goal(K.SLICE, APPLE), "GoToObject", ("nobody",)),
    ],
)
def test_call_does_something_else(goal: Goal, skill: str, arguments: tuple[str, ...]) -> None:
    assert not fulfils(SkillCall(skill, arguments), goal, belief(*HOME))


def test_what_was_washed_goes_where_it_was_to_go_then() -> None:
    washed = belief(*HOME, states=(("Apple", ObjectState.CLEANED),))
    assert fulfils(SkillCall("PutObject", ("Apple", "Fridge")), Goal(K.CLEAN, APPLE, FRIDGE), washed)


def test_full_container_goes_on_to_the_destination() -> None:
    goal, into_the_fridge = Goal(K.STACK, APPLE, FRIDGE, BOWL), SkillCall("PutObject", ("Bowl", "Fridge"))
    onto_the_counter = SkillCall("PutObject", ("Bowl", "CounterTop"))
    empty, full = belief(*HOME, held="Bowl"), belief(*HOME, held="Bowl", inside=(("Apple", "Bowl"),))
    assert not fulfils(into_the_fridge, goal, empty)
    assert fulfils(into_the_fridge, goal, full)
    assert not is_in_vain(onto_the_counter, [goal], empty)
    assert is_in_vain(onto_the_counter, [goal], full)


def test_second_of_two_goes_where_the_first_is() -> None:
    goal = Goal(K.PLACE_TWO, APPLE, FRIDGE, count=2)
    made = belief(*HOME, "Apple 2", "Fridge 2", held="Apple 2", inside=(("Apple", "Fridge 2"),))
    for name in ("Apple 2", "Fridge 2"):
        made.things[name] = replace(made.things[name], object_class=name.removesuffix(" 2"))
    assert fulfils(SkillCall("PutObject", ("Apple 2", "Fridge 2")), goal, made)
    assert not fulfils(SkillCall("PutObject", ("Apple 2", "Fridge")), goal, made)
    assert is_in_vain(SkillCall("GoToObject", ("Fridge",)), [goal], made)


def test_nothing_more_is_cut_where_there_are_pieces() -> None:
    goal = Goal(K.PLACE, APPLE, FRIDGE, sliced=True)
    assert not fulfils(SkillCall("SliceObject", ("Apple",)), goal, belief(*HOME, "AppleSliced"))
    assert fulfils(SkillCall("PutObject", ("AppleSliced", "Fridge")), goal, belief(*HOME, "AppleSliced"))


@pytest.mark.parametrize(
    ("goal", "held", "skill", "arguments"),
    [
        (Goal(K.PLACE, APPLE, FRIDGE), "Apple", "PutObject", ("Apple", "CounterTop")),
        (Goal(K.CLEAN, APPLE, FRIDGE), "Apple", "PutObject", ("Apple", "Fridge")),
        (Goal(K.FETCH, APPLE), "Apple", "PutObject", ("Apple", "CounterTop")),
        (Goal(K.SLICE, APPLE), "Knife", "PutObject", ("Knife", "CounterTop")),
        (Goal(K.PLACE, APPLE, FRIDGE), "Apple", "GoToObject", ("SinkBasin",)),
        (Goal(K.PLACE, APPLE, FRIDGE), "Apple", "OpenObject", ("SinkBasin",)),
        (Goal(K.SLICE, APPLE), "Knife", "GoToObject", ("Fridge",)),
        (Goal(K.PLACE, APPLE, FRIDGE), "", "GoToObject", ("Fridge",)),
        (Goal(K.PLACE, APPLE, FRIDGE), "", "GoToObject", ("SinkBasin",)),
        (Goal(K.PLACE, APPLE, FRIDGE), "", "PickupObject", ("Knife",)),
        (Goal(K.PLACE, APPLE, FRIDGE, sliced=True), "", "PickupObject", ("Bowl",)),
    ],
)
def test_call_serves_no_goal(goal: Goal, held: str, skill: str, arguments: tuple[str, ...]) -> None:
    assert is_in_vain(SkillCall(skill, arguments), [goal], belief(*HOME, held=held))


@pytest.mark.parametrize(
    ("goal", "held", "skill", "arguments"),
    [
        (Goal(K.PLACE, APPLE, FRIDGE), "Apple", "PutObject", ("Apple", "Fridge")),
        (Goal(K.PLACE, APPLE, FRIDGE), "Bowl", "PutObject", ("Bowl", "CounterTop")),
        (Goal(K.PLACE, APPLE, replace(FRIDGE, beside=True)), "Apple", "PutObject", ("Apple", "CounterTop")),
        (Goal(K.PLACE, APPLE, FRIDGE, sliced=True), "Apple", "PutObject", ("Apple", "CounterTop")),
        (Goal(K.STACK, APPLE, FRIDGE, BOWL), "Bowl", "PutObject", ("Bowl", "CounterTop")),
        (Goal(K.CLEAN, APPLE), "Apple", "PutObject", ("Apple", "SinkBasin")),
        (Goal(K.PLACE, APPLE, FRIDGE), "Apple", "GoToObject", ("Fridge",)),
        (Goal(K.PLACE, APPLE, FRIDGE), "Apple", "OpenObject", ("Fridge",)),
        (Goal(K.PLACE, APPLE, FRIDGE), "Knife", "GoToObject", ("CounterTop",)),
        (Goal(K.HEAT, APPLE), "Apple", "GoToObject", ("Microwave",)),
        (Goal(K.PLACE, APPLE, FRIDGE), "", "GoToObject", ("Apple",)),
        (Goal(K.PLACE, APPLE, FRIDGE), "", "OpenObject", ("Fridge",)),
        (Goal(K.PLACE, APPLE, FRIDGE, sliced=True), "", "GoToObject", ("Knife",)),
        (Goal(K.SLICE, APPLE), "Knife", "GoToObject", ("Apple",)),
        (Goal(K.SWITCH_ON, LAMP), "", "GoToObject", ("DeskLamp",)),
        (Goal(K.GO, FRIDGE), "", "GoToObject", ("Fridge",)),
        (
            Goal(K.PLACE, APPLE, Mention("in the bedroom", room="bedroom")),
            "Apple",
            "PutObject",
            ("Apple", "CounterTop"),
        ),
    ],
)
def test_call_may_serve_a_goal(goal: Goal, held: str, skill: str, arguments: tuple[str, ...]) -> None:
    assert not is_in_vain(SkillCall(skill, arguments), [goal], belief(*HOME, held=held))


def test_place_with_something_that_a_goal_wants_is_worth_a_drive() -> None:
    goal = Goal(K.PLACE, APPLE, FRIDGE)
    stocked = belief(*HOME, inside=(("Apple", "Bowl"), ("Bowl", "CounterTop")))
    assert not is_in_vain(SkillCall("GoToObject", ("CounterTop",)), [goal], stocked)
    assert is_in_vain(SkillCall("GoToObject", ("SinkBasin",)), [goal], stocked)


def test_another_thing_of_the_kind_is_no_reason_to_turn_with_one_in_the_hand() -> None:
    made = belief(*HOME, "Apple 2", held="Apple", inside=(("Apple 2", "Microwave"),))
    made.things["Apple 2"] = replace(made.things["Apple 2"], object_class="Apple")
    assert is_in_vain(SkillCall("GoToObject", ("Microwave",)), [Goal(K.PLACE, APPLE, FRIDGE)], made)


def test_lamp_is_gone_to_with_what_is_to_be_looked_at() -> None:
    goal = Goal(K.EXAMINE, APPLE, light=LAMP)
    assert not is_in_vain(SkillCall("GoToObject", ("DeskLamp",)), [goal], belief(*HOME, held="Apple"))


def test_knife_is_not_taken_again_where_there_are_pieces() -> None:
    goal = Goal(K.PLACE, APPLE, FRIDGE, sliced=True)
    assert is_in_vain(SkillCall("PickupObject", ("Knife",)), [goal], belief(*HOME, "AppleSliced"))


def test_what_another_goal_wants_there_is_not_in_vain() -> None:
    goals = [Goal(K.PLACE, APPLE, FRIDGE), Goal(K.PLACE, APPLE, Mention("counter", ("CounterTop",)))]
    assert not is_in_vain(SkillCall("PutObject", ("Apple", "CounterTop")), goals, belief(*HOME, held="Apple"))


def test_what_is_not_known_may_be_behind_a_door() -> None:
    fridge, goal = (
        SkillCall("GoToObject", ("Fridge",)),
        Goal(K.PLACE, Mention("egg", ("Egg",)), Mention("", ("SinkBasin",))),
    )
    assert not is_in_vain(fridge, [goal], belief(*HOME))
    assert is_in_vain(fridge, [goal], belief(*HOME, states=(("Fridge", ObjectState.OPENED),)))
    assert is_in_vain(fridge, [goal], belief(*HOME, "Egg"))
    assert is_in_vain(SkillCall("GoToObject", ("CounterTop",)), [goal], belief(*HOME))


def test_what_a_goal_is_about_is_not_shut_away() -> None:
    close, stored = SkillCall("CloseObject", ("Fridge",)), (("Apple", "Fridge"),)
    assert is_in_vain(close, [Goal(K.PLACE, APPLE, BOWL)], belief(*HOME, inside=stored))
    assert is_in_vain(close, [Goal(K.PLACE, APPLE, BOWL)], belief(*HOME, inside=(("Bowl", "Fridge"),)))
    assert not is_in_vain(close, [Goal(K.PLACE, APPLE, BOWL)], belief(*HOME))
    assert not is_in_vain(close, [Goal(K.PLACE, APPLE, FRIDGE)], belief(*HOME, inside=stored))
    assert not is_in_vain(close, [Goal(K.COOL, APPLE, BOWL)], belief(*HOME, inside=stored))
    assert not is_in_vain(close, [Goal(K.CLOSE, FRIDGE)], belief(*HOME, inside=stored))


def test_what_a_goal_wants_of_a_closed_place_is_gone_to_with_full_hands() -> None:
    goal, stored = Goal(K.STACK, APPLE, Mention("", ("SinkBasin",)), BOWL), (("Bowl", "Fridge"),)
    assert not is_in_vain(SkillCall("GoToObject", ("Fridge",)), [goal], belief(*HOME, held="Apple", inside=stored))
    assert is_in_vain(SkillCall("GoToObject", ("Fridge",)), [goal], belief(*HOME, held="Apple"))


@pytest.mark.parametrize("name", ["Apple", "AppleSliced", "Fridge", "Knife"])
def test_what_a_goal_is_about_is_looked_for(name: str) -> None:
    assert not is_in_vain(SkillCall("Explore", (name,)), [Goal(K.PLACE, APPLE, FRIDGE, sliced=True)], belief())


@pytest.mark.parametrize("name", ["StoveBurner", "Bowl"])
def test_nothing_else_is_looked_for(name: str) -> None:
    assert is_in_vain(SkillCall("Explore", (name,)), [Goal(K.PLACE, APPLE, FRIDGE, sliced=True)], belief())
    assert is_in_vain(SkillCall("Explore", (name,)), [Goal(K.HEAT, APPLE)], belief())


def test_furniture_like_what_is_wanted_takes_its_part_where_none_is_known() -> None:
    goal, put = Goal(K.PLACE, APPLE, Mention("", ("SideTable",))), SkillCall("PutObject", ("Apple", "Dresser"))
    assert not is_in_vain(put, [goal], belief("Apple", "Dresser", held="Apple"))
    assert is_in_vain(put, [goal], belief("Apple", "Dresser", "SideTable", held="Apple"))
    assert is_in_vain(SkillCall("PutObject", ("Apple", "Fridge")), [goal], belief("Apple", "Fridge", held="Apple"))

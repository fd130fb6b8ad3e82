"""Which calls do what a goal asks for."""

from dataclasses import replace

import pytest

from benchmarks.ranking.ranked_planner import fulfils, is_in_vain
from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.skill import SkillCall
from memory_node.domain.skill_library import GoalKind
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


def test_second_of_two_goes_where_the_first_is() -> None:
    goal = Goal(K.PLACE_TWO, APPLE, FRIDGE, count=2)
    made = belief(*HOME, "Apple 2", "Fridge 2", held="Apple 2", inside=(("Apple", "Fridge 2"),))
    for name in ("Apple 2", "Fridge 2"):
        made.things[name] = replace(made.things[name], object_class=name.removesuffix(" 2"))
    assert fulfils(SkillCall("PutObject", ("Apple 2", "Fridge 2")), goal, made)
    assert not fulfils(SkillCall("PutObject", ("Apple 2", "Fridge")), goal, made)
    assert is_in_vain(SkillCall("GoToObject", ("Fridge",)), [goal], made)


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


def test_what_a_goal_is_about_is_not_shut_away() -> None:
    close, stored = SkillCall("CloseObject", ("Fridge",)), (("Apple", "Fridge"),)
    assert is_in_vain(close, [Goal(K.PLACE, APPLE, BOWL)], belief(*HOME, inside=stored))
    assert is_in_vain(close, [Goal(K.PLACE, APPLE, BOWL)], belief(*HOME, inside=(("Bowl", "Fridge"),)))
    assert not is_in_vain(close, [Goal(K.PLACE, APPLE, BOWL)], belief(*HOME))
    assert not is_in_vain(close, [Goal(K.PLACE, APPLE, FRIDGE)], belief(*HOME, inside=stored))
    assert not is_in_vain(close, [Goal(K.COOL, APPLE, BOWL)], belief(*HOME, inside=stored))
    assert not is_in_vain(close, [Goal(K.CLOSE, FRIDGE)], belief(*HOME, inside=stored))


def test_furniture_like_what_is_wanted_takes_its_part_where_none_is_known() -> None:
    goal, put = Goal(K.PLACE, APPLE, Mention("", ("SideTable",))), SkillCall("PutObject", ("Apple", "Dresser"))
    assert not is_in_vain(put, [goal], belief("Apple", "Dresser", held="Apple"))
    assert is_in_vain(put, [goal], belief("Apple", "Dresser", "SideTable", held="Apple"))
    assert is_in_vain(SkillCall("PutObject", ("Apple", "Fridge")), [goal], belief("Apple", "Fridge", held="Apple"))

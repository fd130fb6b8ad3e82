"""Which calls do what a goal asks for."""

from dataclasses import replace

import pytest

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.goal_labels import GoalKind
from memory_node.domain.skill import SkillCall
from memory_node.domain.states import ObjectState
from memory_node.planner.belief import Belief, Thing
from memory_node.planner.fulfilling import fulfils
from memory_node.planner.goal import Goal, Mention

K = GoalKind
APPLE, FRIDGE, BOWL = Mention("apple", ("Apple",)), Mention("fridge", ("Fridge",)), Mention("bowl", ("Bowl",))
LAMP = Mention("lamp", ("DeskLamp",))


def belief(*names: str, states: tuple[tuple[str, ObjectState], ...] = ()) -> Belief:
    made = Belief(load_catalogue(), {name: Thing(name, name, name) for name in names})
    made.state = replace(made.state, states=frozenset(states))
    return made


HOME = ("Apple", "Bowl", "Fridge", "CounterTop", "Knife", "DeskLamp", "SinkBasin")


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


def test_nothing_more_is_cut_where_there_are_pieces() -> None:
    goal = Goal(K.PLACE, APPLE, FRIDGE, sliced=True)
    assert not fulfils(SkillCall("SliceObject", ("Apple",)), goal, belief(*HOME, "AppleSliced"))
    assert fulfils(SkillCall("PutObject", ("AppleSliced", "Fridge")), goal, belief(*HOME, "AppleSliced"))

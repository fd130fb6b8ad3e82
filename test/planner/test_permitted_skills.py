"""Only what the goals ask for is done, with what they name, and of what is wanted in pieces with no whole one;
and not what was just done in vain."""

import pytest

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.skill import SkillCall
from memory_node.domain.skill_library import GoalKind
from memory_node.planner.goal import Goal, Mention
from memory_node.planner.permitted_skills import LoopGuard, PlanAudit, licensed_skills

BREAD = Mention("bread", ("Bread",))
APPLE, FRIDGE = Mention("apple", ("Apple",)), Mention("fridge", ("Fridge",))
CHANGING = {"BreakObject", "ThrowObject", "SliceObject", "EmptyObject", "CleanObject", "HeatObject", "ToggleOn"}


def names(*goals: Goal) -> set[str]:
    return {skill.name for skill in licensed_skills(goals, load_catalogue())}


def test_bringing_licenses_no_change() -> None:
    licensed = names(Goal(GoalKind.PLACE, BREAD, Mention("table", ("DiningTable",))))
    assert {"Explore", "GoToObject", "PickupObject", "PutObject", "OpenObject", "CloseObject"} <= licensed
    assert not licensed & CHANGING


@pytest.mark.parametrize(
    ("goal", "skill"),
    [
        (Goal(GoalKind.BREAK, BREAD), "BreakObject"),
        (Goal(GoalKind.THROW, BREAD), "ThrowObject"),
        (Goal(GoalKind.SLICE, BREAD), "SliceObject"),
        (Goal(GoalKind.PLACE, BREAD, sliced=True), "SliceObject"),
        (Goal(GoalKind.HEAT, BREAD, treatment="toast"), "SliceObject"),
        (Goal(GoalKind.HEAT, BREAD), "HeatObject"),
        (Goal(GoalKind.CLEAN, BREAD), "CleanObject"),
        (Goal(GoalKind.EXAMINE, BREAD), "SwitchOn"),
        (Goal(GoalKind.SWITCH_OFF, BREAD), "ToggleOff"),
    ],
)
def test_what_is_asked_for_is_licensed(goal: Goal, skill: str) -> None:
    assert skill in names(goal)


def test_warming_up_licenses_no_cut() -> None:
    assert "SliceObject" not in names(Goal(GoalKind.HEAT, BREAD, treatment="boil"))


def test_unknown_goals_license_nothing_that_cannot_be_undone() -> None:
    assert not names() & {"BreakObject", "ThrowObject", "SliceObject", "EmptyObject"}
    assert "CleanObject" in names()


def objects_to(goals: tuple[Goal, ...], skill: str, object_class: str) -> bool:
    return bool(PlanAudit(goals, load_catalogue()).objection(SkillCall(skill, (object_class,)), object_class))


def test_another_thing_is_not_taken() -> None:
    goals = (Goal(GoalKind.PLACE, APPLE, FRIDGE),)
    assert objects_to(goals, "PickupObject", "Potato")
    assert not objects_to(goals, "PickupObject", "Apple")
    assert not objects_to(goals, "GoToObject", "Potato")


def test_whole_is_carried_to_where_it_is_cut_and_not_heated_where_pieces_are_wanted() -> None:
    goals = (Goal(GoalKind.HEAT, APPLE, FRIDGE, sliced=True),)
    assert objects_to(goals, "HeatObject", "Apple")
    assert not objects_to(goals, "PickupObject", "Apple")
    assert not objects_to(goals, "HeatObject", "AppleSliced")
    assert not objects_to(goals, "SliceObject", "Apple")
    both = (*goals, Goal(GoalKind.PLACE, APPLE, FRIDGE))
    assert not objects_to(both, "HeatObject", "Apple"), "a whole one is asked for as well"


LEFT, RIGHT, OPEN, CLOSE = (
    SkillCall("GoToObject", ("SinkBasin",)),
    SkillCall("GoToObject", ("SinkBasin 2",)),
    SkillCall("OpenObject", ("Drawer",)),
    SkillCall("CloseObject", ("Drawer",)),
)


def after(*taken: tuple[SkillCall, object]) -> LoopGuard:
    held_back = LoopGuard()
    for call, state in taken:
        held_back.note(call, state)
    return held_back


def test_driving_between_two_things_ends() -> None:
    assert not after((LEFT, 0), (RIGHT, 0)).holds(LEFT)  # to go back once is no loop
    there_and_back = after((LEFT, 0), (RIGHT, 0), (LEFT, 0), (RIGHT, 0))
    assert there_and_back.holds(LEFT)
    assert there_and_back.holds(RIGHT)
    assert not there_and_back.holds(OPEN)


def test_what_changes_and_changes_back_ends() -> None:
    twice = after((OPEN, 1), (CLOSE, 0), (OPEN, 1))
    assert twice.holds(CLOSE)


def test_a_change_makes_the_same_call_worth_while_again() -> None:
    assert after((LEFT, 0), (OPEN, 0), (LEFT, 0)).holds(LEFT)
    assert not after((LEFT, 0), (OPEN, 0), (LEFT, 0), (CLOSE, 1)).holds(LEFT)
    assert after((LEFT, 0), (OPEN, 1), (LEFT, 1), (CLOSE, 0), (LEFT, 0)).holds(LEFT)  # it is as it was


def test_a_call_that_changes_nothing_twice_is_held_back() -> None:
    assert after((OPEN, 0), (OPEN, 0)).holds(OPEN)

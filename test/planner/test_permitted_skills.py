"""Only what the goals ask for is done, with what they name, and of what is wanted in pieces with no whole one."""

import pytest

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.skill import SkillCall
from memory_node.domain.skill_library import GoalKind
from memory_node.planner.goal import Goal, Mention
from memory_node.planner.permitted_skills import PlanAudit, licensed_skills

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

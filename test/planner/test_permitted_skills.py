import pytest

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.goal_labels import GoalKind
from memory_node.planner.goal import Goal, Mention
from memory_node.planner.permitted_skills import licensed_skills

BREAD = Mention("bread", ("Bread",))
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

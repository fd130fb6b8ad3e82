"""Readings are compared by what they bring about."""

from memory_node.domain.goal_labels import GoalKind
from memory_node.planner.goal import Goal, Mention
from memory_node.planner.language.goal_effects import effects


def mention(name: str, **more: bool) -> Mention:
    return Mention(name, (name,), **more)


def test_one_goal_and_its_steps_are_the_same() -> None:
    whole = Goal(GoalKind.CLEAN, mention("Mug"), mention("Shelf"))
    steps = [Goal(GoalKind.CLEAN, mention("Mug")), Goal(GoalKind.PLACE, mention("Mug"), mention("Shelf"))]
    assert effects([whole]) == effects(steps) == ("clean Mug", "Mug at Shelf")


def test_fetching_counts_only_when_nothing_comes_of_it() -> None:
    fetched = Goal(GoalKind.FETCH, mention("Pen"))
    assert effects([fetched, Goal(GoalKind.PLACE, mention("Pen"), mention("Desk"))]) == ("Pen at Desk",)
    assert effects([fetched]) == ("fetch Pen",)


def test_cutting_is_told_once() -> None:
    goals = [
        Goal(GoalKind.SLICE, mention("Bread")),
        Goal(GoalKind.HEAT, mention("Bread"), sliced=True),
        Goal(GoalKind.STACK, mention("Bread"), mention("DiningTable"), mention("Plate"), sliced=True),
    ]
    assert effects(goals) == ("slice Bread", "heat Bread", "Bread at Plate", "Plate at DiningTable")


def test_place_beside_differs_from_place_on() -> None:
    near = Goal(GoalKind.PLACE, mention("Fork"), mention("Plate", beside=True))
    assert effects([near]) != effects([Goal(GoalKind.PLACE, mention("Fork"), mention("Plate"))])

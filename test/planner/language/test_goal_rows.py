"""Goals that are only a step of the next one, or are said twice, go."""

import pytest

from memory_node.domain.goal_labels import GoalKind as K
from memory_node.planner.goal import Goal, Mention
from memory_node.planner.language.goal_rows import tidied

LAMPS = ("DeskLamp", "FloorLamp")
APPLIANCES = {K.CLEAN: "SinkBasin", K.HEAT: "Microwave", K.COOL: "Fridge"}


def mention(name: str) -> Mention:
    return Mention(name, (name,))


def goal(kind: K, target: str = "Mug", to: str = "", **more) -> Goal:
    return Goal(kind, mention(target) if target else Mention(""), mention(to) if to else None, **more)


def row(*goals: Goal) -> list[str]:
    return [str(one) for one in tidied(goals, LAMPS, APPLIANCES)]


@pytest.mark.parametrize(
    ("goals", "left"),
    [
        ((goal(K.FETCH), goal(K.PLACE, to="Shelf")), ["place Mug to Shelf"]),
        ((goal(K.FIND), goal(K.CLEAN)), ["clean Mug"]),
        ((goal(K.FIND, "CounterTop"), goal(K.FETCH)), ["fetch Mug"]),
        ((goal(K.FETCH), goal(K.CLEAN, "Fork")), ["fetch Mug", "clean Fork"]),
        ((goal(K.PLACE, to="SinkBasin"), goal(K.CLEAN)), ["clean Mug"]),
        ((goal(K.PLACE, to="Shelf"), goal(K.CLEAN)), ["place Mug to Shelf", "clean Mug"]),
        ((goal(K.FETCH, "Book"), goal(K.SWITCH_ON, "DeskLamp")), ["examine Book with DeskLamp"]),
        ((goal(K.CLEAN), goal(K.CLEAN)), ["clean Mug"]),
        ((goal(K.FETCH), goal(K.TELL)), ["fetch Mug", "tell Mug"]),
        ((goal(K.GO, ""), goal(K.STOP, "")), ["go", "stop"]),
    ],
)
def test_row_is_tidied(goals: tuple[Goal, ...], left: list[str]) -> None:
    assert row(*goals) == left


def test_another_one_of_the_class_is_not_said_twice() -> None:
    other = Goal(K.PLACE, Mention("the other mug", ("Mug",), another=True), mention("Shelf"))
    assert len(row(goal(K.PLACE, to="Shelf"), other)) == 2


def test_what_was_undone_in_between_is_done_again() -> None:
    opened, closed = goal(K.OPEN, "Fridge"), goal(K.CLOSE, "Fridge")
    assert row(opened, closed, opened) == ["open Fridge", "close Fridge", "open Fridge"]
    there, back = goal(K.PLACE, to="Shelf"), goal(K.PLACE, to="SinkBasin")
    assert len(row(there, back, there)) == 3

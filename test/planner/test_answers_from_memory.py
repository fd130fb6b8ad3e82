"""Answers to the questions of an instruction: about the likeliest class that memory knows, in its plain words."""

import numpy as np
import pytest

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.geometry import OrientedBox
from memory_node.domain.goal_labels import GoalKind
from memory_node.domain.scene import SceneObject, SceneSnapshot
from memory_node.domain.states import ObjectState, StateBelief
from memory_node.planner.answers_from_memory import answer_to
from memory_node.planner.goal import Goal, Mention


def thing(name: str, *states: ObjectState, support_id: str = "", existence: float = 0.9) -> SceneObject:
    box = OrientedBox(np.zeros(3), np.full(3, 0.1))
    beliefs = tuple(StateBelief(state, 0.9, 1) for state in states)
    object_class = name.partition(" ")[0]
    return SceneObject(
        name, {object_class: 1.0}, box, np.eye(3), existence, 1, 1, support_id=support_id, states=beliefs, name=name
    )


HOME = SceneSnapshot(
    1,
    objects=(
        thing("Window 1", ObjectState.OPENED),
        thing("Window 2", ObjectState.CLOSED),
        thing("Desk 1"),
        thing("Vase 1", support_id="Desk 1"),
        thing("Vase 2", support_id="Desk 1", existence=0.2),
    ),
)


@pytest.mark.parametrize(
    ("asked", "classes", "told"),
    [
        ("open", ("Window",), ("Window 1 is open", "Window 2 is not open")),
        ("place", ("Vase",), ("Vase 1 is on Desk 1", "Vase 2 is probably no longer on Desk 1")),
        ("contents", ("Desk",), ("On Desk 1: Vase 1", "Vase 2")),
        ("count", ("Window",), ("I know of 2 windows",)),
        ("exists", ("Vase",), ("Yes: Vase 1",)),
        ("place", ("Mug", "Vase"), ("Vase 1 is on Desk 1",)),
        ("place", ("Mug",), ("I know of no mug here",)),
    ],
)
def test_what_is_asked_on_the_way_is_told_of_all_that_memory_knows(asked: str, classes, told) -> None:
    goal = Goal(GoalKind.TELL, Mention("it", classes), asked=asked, every=asked == "open")
    answer = answer_to(goal, load_catalogue(), HOME)
    assert all(one in answer for one in told), answer


def test_the_one_thing_that_is_meant_is_told_of() -> None:
    goal = Goal(GoalKind.TELL, Mention("the vase", ("Vase",), thing_id="Vase 1"), asked="place")
    answer = answer_to(goal, load_catalogue(), HOME)
    assert "Vase 1" in answer
    assert "Vase 2" not in answer

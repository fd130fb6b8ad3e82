"""Questions for the state of several things are answered for all of them."""

from types import SimpleNamespace

import pytest

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.goal_labels import GoalKind
from memory_node.domain.states import ObjectState, StateBelief
from memory_node.planner.answers_from_memory import Answers
from memory_node.planner.goal import Goal, Mention


def answer(asked: str, *states: ObjectState | None) -> str:
    beliefs = [() if state is None else (StateBelief(state, 0.9, 1),) for state in states]
    windows = [SimpleNamespace(class_name="Window", states=one) for one in beliefs]
    lookup = SimpleNamespace(of_classes=lambda names: windows if names == ("Window",) else [])
    goal = Goal(GoalKind.TELL, Mention("the windows", ("Window",)), asked=asked, every=True)
    return Answers(load_catalogue(), lookup).to(goal).text


@pytest.mark.parametrize(
    ("states", "told"),
    [
        ((ObjectState.OPENED, ObjectState.CLOSED), "Of the 2 windows that I know, 1 is open."),
        ((ObjectState.CLOSED, ObjectState.CLOSED), "Of the 2 windows that I know, 0 are open."),
        ((ObjectState.OPENED, None, None), "Of the 3 windows that I know, 1 is open; of 2 I do not know it."),
    ],
)
def test_all_windows_are_told_of(states: tuple[ObjectState | None, ...], told: str) -> None:
    assert answer("open", *states) == told

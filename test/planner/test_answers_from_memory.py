"""Answers about the state of several things, and about a thing that was looked for in vain."""

from types import SimpleNamespace

import pytest

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.answer import AnswerStatus
from memory_node.domain.skill_library import GoalKind
from memory_node.domain.states import ObjectState, StateBelief
from memory_node.planner.goal import Goal, Mention
from memory_node.planner.memory_lookup import Answers


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


@pytest.mark.parametrize(
    ("status", "told"),
    [
        (AnswerStatus.OK, "The vase is on the desk in the bedroom."),
        (AnswerStatus.PROBABLY_GONE, "The vase is probably no longer on the desk in the bedroom."),
    ],
)
def test_a_thing_that_is_probably_gone_is_not_said_to_be_there(status: AnswerStatus, told: str) -> None:
    found = SimpleNamespace(status=status, inside=False, room_name="bedroom", object_id="vase")
    lookup = SimpleNamespace(
        locate=lambda *_: found,
        support_of=lambda _: SimpleNamespace(class_name="Desk"),
        scene_object=lambda _: None,
        not_where_told=lambda _: frozenset(),
    )
    assert Answers(load_catalogue(), lookup).to(Goal(GoalKind.TELL, Mention("the vase", ("Vase",)))).text == told

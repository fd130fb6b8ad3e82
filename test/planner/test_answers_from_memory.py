"""Answers about the state of several things, and about a thing that was looked for in vain."""

from types import SimpleNamespace

import numpy as np
import pytest

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.answer import AnswerStatus
from memory_node.domain.geometry import OrientedBox
from memory_node.domain.scene import SceneObject, SceneSnapshot
from memory_node.domain.skill_library import GoalKind
from memory_node.domain.states import ObjectState, StateBelief
from memory_node.planner.goal import Goal, Mention
from memory_node.planner.memory_lookup import Answers, MemoryLookup
from memory_node.planner.planner import PlanningContext


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
        of_classes=lambda _: [],
        not_where_told=lambda _: frozenset(),
    )
    assert Answers(load_catalogue(), lookup).to(Goal(GoalKind.TELL, Mention("the vase", ("Vase",)))).text == told


def _thing(name: str, support: str, *, at: tuple[float, float, float], size: float = 0.2) -> SceneObject:
    box = OrientedBox(np.array(at), np.array((size, size, 0.1)))
    kind = name.split()[0]
    return SceneObject(name, {kind: 1.0}, box, np.eye(3), 1.0, 1, 1, support_id=support, name=name)


def _told_of(asked: str, mention: Mention, *things: SceneObject) -> str:
    class Home:
        def scene(self) -> SceneSnapshot:
            return SceneSnapshot(1, objects=things)

    goal = Goal(GoalKind.TELL, mention, asked=asked, every=not mention.beside)
    lookup = MemoryLookup(PlanningContext(Home()))  # type: ignore[arg-type]
    if mention.beside:
        lookup.locate = lambda *_: SimpleNamespace(object_id="Lamp 1")  # type: ignore[method-assign, assignment]
    return Answers(load_catalogue(), lookup).to(goal).text


def test_a_plural_place_is_all_of_its_kind() -> None:
    drawers = [_thing(f"Drawer {number}", "", at=(number, 0.0, 0.5)) for number in (1, 2, 10)]
    inside = [_thing("Towel 1", "Drawer 10", at=(10, 0, 0.5)), _thing("Candle 1", "Drawer 2", at=(2, 0, 0.5))]
    named = Mention("the drawers", ("Drawer",))
    assert _told_of("contents", named, *drawers, *inside) == "Drawer 2: candle; drawer 10: towel."
    assert _told_of("contents", named, *drawers) == "I know of nothing in or on any drawer."
    emptiness = "As last seen, I know of nothing in or on drawer 1, and of something in or on 2 more."
    assert _told_of("empty", named, *drawers, *inside) == emptiness


def test_what_is_beside_a_thing_stands_on_the_same_furniture() -> None:
    table = _thing("SideTable 1", "", at=(0, 0, 0.3), size=0.5)
    lamp, statue = _thing("Lamp 1", "SideTable 1", at=(0, 0, 0.6)), _thing("Statue 1", "Lamp 1", at=(0, 0, 0.9))
    far = _thing("Vase 1", "Desk 1", at=(0.6, 0, 0.6))
    desk = _thing("Desk 1", "", at=(0.6, 0, 0.3), size=0.4)
    beside = Mention("the lamp", ("Lamp",), beside=True)
    assert _told_of("contents", beside, table, desk, lamp, statue, far) == "Beside the lamp: statue."

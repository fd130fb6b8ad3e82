"""What skills changed and memory did not take over shows in the scene graph of the instruction."""

import numpy as np
import pytest

from memory_node.domain.geometry import OrientedBox
from memory_node.domain.scene import SceneObject, SceneSnapshot
from memory_node.domain.skill import StateChange
from memory_node.domain.states import ObjectState, StateBelief, believed
from memory_node.planner.unrecorded_changes import UnrecordedChanges

MEMORY_IDS = {"apple-7": "m1", "sink-2": "m2"}  # by the robot's own ids


def thing(memory_id: str, object_class: str, x: float, *states: ObjectState) -> SceneObject:
    box = OrientedBox(np.array([x, 0.0, 1.0]), np.array([0.1, 0.1, 0.1]))
    beliefs = tuple(StateBelief(state, 0.9, 1) for state in states)
    return SceneObject(
        memory_id, {object_class: 1.0}, box, np.eye(3), 0.9, 1, 1, support_id="m3", area_id=f"area {x}", states=beliefs
    )


@pytest.fixture
def scene() -> SceneSnapshot:
    return SceneSnapshot(1, objects=(thing("m1", "Apple", 0.0, ObjectState.DIRTY), thing("m2", "SinkBasin", 3.0)))


def noted(*changes: StateChange, recorded: frozenset[str] = frozenset()) -> UnrecordedChanges:
    unrecorded = UnrecordedChanges()
    unrecorded.note(changes, recorded, lambda reference: MEMORY_IDS.get(reference, ""))
    return unrecorded


def by_id(scene: SceneSnapshot) -> dict[str, SceneObject]:
    return {found.id: found for found in scene.objects}


def test_without_changes_the_scene_is_memorys_own(scene: SceneSnapshot) -> None:
    assert UnrecordedChanges().over(scene) is scene


def test_a_thing_lies_where_it_was_put_and_is_clean_instead_of_dirty(scene: SceneSnapshot) -> None:
    put = StateChange("apple-7", "Apple", 2, held=False, support_id="sink-2", inside=True)
    washed = StateChange("apple-7", "Apple", 3, added=(ObjectState.CLEANED,))
    apple = by_id(noted(put, washed).over(scene))["m1"]
    assert (apple.support_id, apple.inside, apple.area_id) == ("m2", True, "area 3.0")
    assert set(believed(apple.states)) == {ObjectState.CLEANED}
    assert apple.box.center[0] == 3.0


def test_what_the_hand_holds_lies_nowhere(scene: SceneSnapshot) -> None:
    apple = by_id(noted(StateChange("apple-7", "Apple", 2, held=True)).over(scene))["m1"]
    assert apple.support_id == ""


def test_pieces_lie_where_the_whole_was_that_is_no_more(scene: SceneSnapshot) -> None:
    piece = StateChange("piece-1", "AppleSliced", 2, created_from="apple-7")
    gone = StateChange("apple-7", "Apple", 2, destroyed=True)
    found = by_id(noted(piece, gone).over(scene))
    assert found["m1"].removed
    assert (found["piece-1"].class_name, found["piece-1"].support_id, found["piece-1"].removed) == (
        "AppleSliced",
        "m3",
        False,
    )


def test_what_memory_took_over_or_does_not_know_is_left_to_it(scene: SceneSnapshot) -> None:
    put = StateChange("apple-7", "Apple", 2, held=True)
    stranger = StateChange("cup-1", "Cup", 2, held=True)
    assert noted(put, stranger, recorded=frozenset({"apple-7"})).over(scene) is scene

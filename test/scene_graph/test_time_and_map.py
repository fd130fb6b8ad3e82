"""As-of queries, the map epoch, and a map whose origin has moved."""

import numpy as np
import pytest

from memory_node.domain.answer import AnswerStatus, FindQuery
from memory_node.domain.geometry import OrientedBox, Pose
from memory_node.domain.observation import Frame, ObjectObservation
from memory_node.domain.skill import StateChange
from memory_node.scene_graph.graph import SceneGraph
from memory_node.scene_graph.map_epoch import MapEpoch
from memory_node.scene_graph.shift import shift_graph

SECOND_NS = 1_000_000_000


def frame(stamp_s: int, **things: tuple[float, float, float]) -> Frame:
    size = np.array([0.1, 0.1, 0.1])
    seen = tuple(
        ObjectObservation({name: 0.9}, OrientedBox(np.array(at), size), np.eye(3) * 1e-4) for name, at in things.items()
    )
    return Frame(stamp_s * SECOND_NS, Pose.planar(0.0, 0.0, 0.0, 1.3), None, seen)


@pytest.fixture
def moved() -> SceneGraph:
    """Return a graph whose mug stood at x = 1 from 10 s on and at x = 4 from 100 s on; the bowl came at 50 s."""
    graph = SceneGraph()
    graph.observe(frame(10, Mug=(1.0, 0.0, 0.8)))
    graph.observe(frame(50, Bowl=(2.0, 1.0, 0.8)))
    mug = graph.objects()[0].id
    graph.apply_change(StateChange(mug, "Mug", 100 * SECOND_NS, held=False, position=(4.0, 0.0, 0.8)))
    return graph


def where(graph: SceneGraph, name: str, stamp_s: int) -> float | None:
    best = graph.find(FindQuery(object_class=name, as_of_ns=stamp_s * SECOND_NS)).best
    return None if best is None else float(best.position[0])


def test_query_as_of_then_answers_with_the_place_of_then(moved: SceneGraph) -> None:
    assert (where(moved, "Mug", 5), where(moved, "Mug", 20), where(moved, "Mug", 200)) == (None, 1.0, 4.0)
    assert (where(moved, "Bowl", 20), where(moved, "Bowl", 60)) == (None, 2.0)


def test_snapshot_as_of_then_holds_what_was_known_then(moved: SceneGraph) -> None:
    assert [found.class_name for found in moved.snapshot(20 * SECOND_NS).objects] == ["Mug"]
    assert len(moved.snapshot().objects) == 2


def test_loaded_graph_is_unverified_until_fixed_objects_are_seen_again() -> None:
    graph = SceneGraph()
    places = {"Fridge": (1.0, 0.0, 0.9), "Sofa": (2.0, 2.0, 0.4), "Bed": (4.0, 0.0, 0.3)}
    events = graph.observe(frame(1, **places))
    epoch = MapEpoch([event.object.id for event in events], loaded=True)
    assert not epoch.verified
    seen_again = graph.observe(frame(2, **places))
    assert not epoch.note(seen_again[:2])
    assert epoch.note(seen_again[2:])
    assert MapEpoch([], loaded=False).verified


def test_unverified_frame_is_said_in_every_answer(moved: SceneGraph) -> None:
    moved.frame_verified = False
    found = moved.find(FindQuery(object_class="Mug"))
    assert found.best is not None
    assert found.best.status is AnswerStatus.FRAME_NOT_VERIFIED
    assert not moved.snapshot().frame_verified


def test_graph_moves_with_its_map_and_keeps_its_ids(moved: SceneGraph) -> None:
    before = {found.id: found for found in moved.objects()}
    transform = Pose.planar(1.0, -2.0, np.pi / 4)
    moved.set_map(np.zeros((60, 60), np.int8), 0.1, Pose.planar(-1.0, -3.0, 0.0))
    areas = {area.id: area.position for area in moved.snapshot().areas}
    shift_graph(moved.state, moved.places, transform)
    for found in moved.objects():
        assert np.allclose(found.box.center, transform.apply(before[found.id].box.center), atol=1e-6)
        for new, old in zip(found.history, before[found.id].history, strict=True):
            assert np.allclose(new.box.center, transform.apply(old.box.center))
    for area in moved.snapshot().areas:
        assert np.allclose(area.position, transform.apply([*areas[area.id], 0.0])[:2])
    again = moved.observe(frame(101, Mug=tuple(transform.apply([4.0, 0.0, 0.8]))))
    assert [event.object.id in before for event in again] == [True]

"""As-of queries, the map epoch, and a map whose origin has moved."""

import numpy as np
import pytest
from plain_search import find

from memory_node.domain.answer import AnswerStatus, FindQuery
from memory_node.domain.geometry import OrientedBox, Pose
from memory_node.domain.observation import Frame, ObjectObservation
from memory_node.domain.skill import StateChange
from memory_node.scene_graph.config import SceneGraphConfig
from memory_node.scene_graph.edits import SceneEdits
from memory_node.scene_graph.graph import SceneGraph
from memory_node.scene_graph.relocalization import shift_graph

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


HOME = {"Fridge": (1.0, 0.0, 0.9), "Sofa": (2.0, 2.0, 0.4), "Bed": (4.0, 0.0, 0.3), "Stove": (0.0, 3.0, 0.4)}


def doubted(**things: tuple[float, float, float]) -> SceneGraph:
    """Return a graph of things that was just loaded."""
    graph = SceneGraph(SceneGraphConfig())
    for stamp_s in (1, 2, 3):
        graph.observe(frame(stamp_s, **things))
    loaded = SceneGraph.from_snapshot(graph.snapshot(removed=True), graph.config)
    loaded.doubt_frame()
    return loaded


def test_loaded_graph_is_unverified_until_three_fixed_objects_are_seen_where_they_were() -> None:
    graph = doubted(**HOME, Mug=(3.0, 1.0, 0.8), Bowl=(3.0, 1.5, 0.8))
    names = ["Mug", "Bowl", "Fridge", "Sofa"]
    for count in range(1, 5):
        assert not graph.frame_verified
        graph.observe(frame(100 + count, **{name: HOME.get(name, (3.0, 1.0, 0.8)) for name in names[:count]}))
    assert not graph.frame_verified  # the bowl is not where it was, and two fixed things may be there by chance
    graph.observe(frame(110, **dict(list(HOME.items())[:3])))
    assert graph.frame_verified
    assert graph.counters["map_shifted"] == 0


@pytest.mark.parametrize(
    "shift", [Pose.planar(0.12, 0.0, 0.0), Pose.planar(0.4, 0.3, 0.1), Pose.planar(2.0, -5.0, 2.5)]
)
def test_map_that_moved_by_little_or_much_is_noticed_and_followed(shift: Pose) -> None:
    graph = doubted(**HOME, Mug=(9.0, 1.0, 0.8))
    graph.apply_change(StateChange("", "Cup", 50 * SECOND_NS, held=False, position=(1.0, 1.0, 0.8)))
    ids = {found.class_name: found.id for found in graph.objects()}
    for stamp_s in (100, 101):
        graph.observe(frame(stamp_s, **{name: tuple(shift.apply(at)) for name, at in HOME.items()}))
    assert graph.frame_verified
    assert {found.class_name: found.id for found in graph.objects()} == ids
    where = {found.class_name: found.box.center for found in graph.objects()}
    assert np.allclose(where["Mug"], shift.apply([9.0, 1.0, 0.8]), atol=0.01)
    assert all(np.allclose(where[name], shift.apply(at), atol=0.01) for name, at in HOME.items())
    assert np.allclose(where["Cup"], [1.0, 1.0, 0.8])  # was put down in the new map


def test_history_and_places_follow_a_map_that_moved_though_the_new_one_came_first() -> None:
    shift = Pose.planar(3.0, -1.0, 0.5)
    graph = SceneGraph(SceneGraphConfig())
    rooms = np.zeros((60, 120), np.int8)
    rooms[:, 59:61] = 100
    rooms[26:34, 59:61] = 0
    graph.set_map(rooms, 0.1, Pose.planar(-2.0, -2.0, 0.0))
    for stamp_s in (1, 2, 3):
        graph.observe(frame(stamp_s, **HOME, Mug=(1.0, 1.0, 0.8)))
    mug = graph.objects_of_class("Mug")[0].id
    graph.apply_change(StateChange(mug, "Mug", 10 * SECOND_NS, held=False, position=(7.0, 2.0, 0.8)))
    left, right = sorted(graph.snapshot().rooms, key=lambda room: room.center)
    graph.places.name_room(right.id, "den", by_user=True)
    graph = SceneGraph.from_snapshot(graph.snapshot(removed=True), graph.config)
    graph.doubt_frame()
    graph.set_map(rooms, 0.1, shift @ Pose.planar(-2.0, -2.0, 0.0))
    for stamp_s in (100, 101):
        graph.observe(frame(stamp_s, **{name: tuple(shift.apply(at)) for name, at in HOME.items()}))
    assert graph.frame_verified
    named = {room.id: (room.name, room.center) for room in graph.snapshot().rooms}
    assert named.keys() == {left.id, right.id}
    assert named[right.id][0] == "den"
    assert np.allclose(named[right.id][1], shift.apply([*right.center, 0.0])[:2])
    earlier = find(graph, FindQuery(object_class="Mug", as_of_ns=5 * SECOND_NS)).best
    assert np.allclose(earlier.position, shift.apply([1.0, 1.0, 0.8]), atol=0.01)
    area = graph.places.areas[graph.object(mug).area_id]
    assert area.room_id == right.id


def test_what_a_person_said_meanwhile_is_not_taken_back() -> None:
    shift = Pose.planar(0.3, 0.0, 0.0)
    graph = doubted(**HOME, Mug=(1.5, 1.0, 0.8), Bowl=(3.0, 1.0, 0.8))
    ids = {found.class_name: found.id for found in graph.objects()}
    edits = SceneEdits(graph.state, graph.places)
    graph.take_notice(edits.forget([ids["Mug"]]))
    graph.take_notice(edits.relabel(ids["Bowl"], "Pot"))
    for stamp_s in (100, 101):
        graph.observe(frame(stamp_s, **{name: tuple(shift.apply(at)) for name, at in HOME.items()}))
    assert graph.frame_verified
    where = {found.class_name: found.box.center for found in graph.objects()}
    assert where.keys() == {*HOME, "Pot"}
    assert np.allclose(where["Pot"], [3.3, 1.0, 0.8], atol=0.01)


def test_told_shift_moves_what_was_stored_and_not_what_was_seen_since() -> None:
    shift = Pose.planar(2.0, 1.0, 0.5)
    graph = doubted(Mug=(1.0, 0.0, 0.8))
    graph.observe(frame(100, Bowl=(5.0, 5.0, 0.8)))
    assert not graph.frame_verified
    graph.confirm_frame(shift)
    assert graph.frame_verified
    where = {found.class_name: found.box.center for found in graph.objects()}
    assert np.allclose(where["Mug"], shift.apply([1.0, 0.0, 0.8]), atol=1e-6)
    assert np.allclose(where["Bowl"], [5.0, 5.0, 0.8])


def test_unverified_frame_is_said_in_every_answer(moved: SceneGraph) -> None:
    moved.doubt_frame()
    found = find(moved, FindQuery(object_class="Mug"))
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

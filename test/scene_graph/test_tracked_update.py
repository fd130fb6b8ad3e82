"""Frames whose things are followed from view to view: the track decides, not the overlap of boxes."""

from __future__ import annotations

import numpy as np

from memory_node.domain.geometry import Intrinsics, OrientedBox, Pose
from memory_node.domain.observation import Frame, ObjectObservation
from memory_node.domain.scene import SceneEventKind
from memory_node.scene_graph.graph import SceneGraph

CAMERA = Intrinsics(fx=300.0, fy=300.0, cx=160.0, cy=120.0, width=320, height=240)


def thing(track: str, x_m: float, side_m: float = 0.2, views: int = 3) -> ObjectObservation:
    box = OrientedBox(np.array([x_m, 0.0, 1.5]), np.full(3, side_m))
    name = track if "/" in track else f"1/{track}"
    return ObjectObservation({}, box, np.eye(3) * 1e-4, pixels=900, track=name, views=views)


def frame(
    second: int, *things: ObjectObservation, ended: tuple[tuple[str, str], ...] = (), depth_m: float = 1.5
) -> Frame:
    depth = np.full((240, 320), depth_m, np.float32)
    # The camera looks along the map's z and moves, so that every view is a new one.
    pose = Pose(np.array([0.0, 0.02 * second, 0.0]))
    return Frame(second * 1_000_000_000, pose, CAMERA, things, depth, complete=False, ended_tracks=ended)


def test_track_keeps_its_object_although_its_box_grows_and_moves() -> None:
    graph = SceneGraph()
    graph.observe(frame(1, thing("a", 0.0, 0.1)))
    (first,) = graph.objects()
    graph.observe(frame(2, thing("a", 0.3, 0.5, views=4)))
    (grown,) = graph.objects()
    assert grown.id == first.id
    assert np.allclose(grown.box.size, 0.5)
    assert np.allclose(grown.box.center, [0.3, 0.0, 1.5])
    assert grown.existence > 0.5
    assert grown.times_seen == 4


def test_two_tracks_in_one_place_stay_two_until_one_ends_in_the_other() -> None:
    graph = SceneGraph()
    graph.observe(frame(1, thing("a", 0.0), thing("b", 0.05, 0.15)))
    assert len(graph.objects()) == 2
    events = graph.observe(frame(2, thing("a", 0.0, 0.3), ended=(("1/b", "1/a"),)))
    assert events[0].kind is SceneEventKind.MERGED
    (left,) = graph.objects()
    assert np.allclose(left.box.size, 0.3)


def test_track_that_turned_out_to_be_structure_is_taken_out() -> None:
    graph = SceneGraph()
    graph.observe(frame(1, thing("a", 0.0), thing("b", 0.6)))
    events = graph.observe(frame(2, ended=(("1/b", ""),)))
    assert SceneEventKind.REMOVED in [event.kind for event in events]
    assert len(graph.objects()) == 1
    assert len(graph.objects(removed=True)) == 1  # it never was a thing: nothing of it is kept


def test_new_tracker_finds_the_things_of_the_one_before() -> None:
    graph = SceneGraph()
    graph.observe(frame(1, thing("1/1", 0.0), thing("1/2", 0.6)))
    ids = sorted(found.id for found in graph.objects())
    restarted = SceneGraph.from_snapshot(graph.snapshot(removed=True))
    for again in (graph, restarted):
        again.observe(frame(2, thing("2/9", 0.02), thing("2/4", 0.61)))
        assert sorted(found.id for found in again.objects()) == ids


def test_what_is_not_segmented_stays_and_what_is_seen_through_goes() -> None:
    graph = SceneGraph()
    for second in range(1, 4):
        graph.observe(frame(second, thing("a", 0.0), thing("b", 0.4)))
    for second in range(4, 12):
        graph.observe(frame(second, thing("b", 0.4)))
    assert len(graph.objects()) == 2
    for second in range(12, 24):
        graph.observe(frame(second, thing("b", 0.4), depth_m=3.0))
    assert [round(float(found.box.center[0]), 1) for found in graph.objects()] == [0.4]

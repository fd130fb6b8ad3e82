"""Segments of many views become things: confirmed, joined, replaced by the whole, and never of one view alone."""

from __future__ import annotations

import numpy as np

from memory_node.domain.geometry import Intrinsics, Pose
from memory_node.perception.segment_tracker import SegmentTracker, TrackedSegments

CAMERA = Intrinsics(fx=300.0, fy=300.0, cx=160.0, cy=120.0, width=320, height=240)
WALL_M = 2.0
Block = tuple[int, int, int, int, float, int]


def view(blocks: list[Block], shift_m: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Depth and labels of a wall with blocks before it: left, top, right, bottom pixel, depth, segment number."""
    depth = np.full((240, 320), WALL_M, np.float32)
    labels = np.zeros((240, 320), np.int32)
    for left, top, right, bottom, block_m, number in blocks:
        moved = round(shift_m * CAMERA.fx / block_m)
        depth[top:bottom, left - moved : right - moved] = block_m
        labels[top:bottom, left - moved : right - moved] = number
    return depth, labels


def seen(
    tracker: SegmentTracker, blocks: list[tuple[int, int, int, int, float, int]], views: int = 4
) -> TrackedSegments:
    """Let a camera that moves sideways see blocks; return what it told last."""
    for index in range(views):
        shift_m = 0.03 * index
        depth, labels = view(blocks, shift_m)
        told = tracker.track(labels, depth, CAMERA, Pose(np.array([shift_m, 0.0, 0.0])))
    return told


ONE = (100, 80, 160, 140, 1.5, 1)  # 30 x 30 cm
RIGHT_HALF = (130, 80, 160, 140, 1.5, 2)


def test_thing_is_told_after_enough_views_with_its_size() -> None:
    tracker = SegmentTracker()
    assert not seen(tracker, [ONE], views=2).detections
    told = seen(tracker, [ONE])
    (found,) = told.detections
    assert np.allclose(found.box.size[:2], 0.3, atol=0.03)
    assert found.views >= 3
    assert set(np.unique(told.labels)) == {0, found.instance}


def test_track_keeps_its_name_while_the_segments_change_their_numbers() -> None:
    tracker = SegmentTracker(name="run/")
    first = seen(tracker, [ONE]).detections[0].track
    renumbered = (*ONE[:5], 7)
    assert first.startswith("run/")
    assert seen(tracker, [renumbered]).detections[0].track == first


def test_two_fragments_that_are_then_seen_as_one_are_joined() -> None:
    tracker = SegmentTracker()
    left = (100, 80, 130, 140, 1.5, 1)
    two = seen(tracker, [left, RIGHT_HALF], views=4)
    assert len(two.detections) == 2
    ended: list[tuple[str, str]] = []
    for _ in range(12):
        told = seen(tracker, [ONE], views=1)
        ended += told.ended
    (whole,) = told.detections
    assert np.allclose(whole.box.size[:2], 0.3, atol=0.03)
    assert [into for _, into in ended] == [whole.track]


def test_wall_that_one_view_took_for_a_thing_is_outvoted() -> None:
    tracker = SegmentTracker()
    seen(tracker, [], views=5)
    wall = (60, 40, 160, 140, WALL_M, 1)
    assert not seen(tracker, [wall], views=3).detections
    assert not seen(tracker, [], views=5).detections


def test_long_thing_and_large_sheet_are_structure() -> None:
    assert not seen(SegmentTracker(), [(10, 100, 310, 140, 1.9, 1)], views=6).detections  # 1.9 m
    assert not seen(SegmentTracker(), [(80, 40, 200, 160, 1.9, 1)], views=6).detections  # 76 x 76 cm, no depth


def test_place_that_is_seen_through_is_forgotten() -> None:
    tracker = SegmentTracker()
    assert seen(tracker, [ONE]).detections
    seen(tracker, [], views=10)
    assert not seen(tracker, [ONE], views=1).detections

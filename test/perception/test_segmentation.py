"""Objects are found in depth alone: on the table, touching, stacked, and behind one another."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.segment import run, score
from memory_node.domain.geometry import Intrinsics
from memory_node.perception.config import SegmentationConfig
from memory_node.perception.segmentation import GeometricSegmenter


def found(render: Any, boxes: list[Any]) -> dict[str, Any]:
    depth, truth, _, camera = render(boxes)
    labels = GeometricSegmenter(SegmentationConfig()).segment(depth, camera)
    return score(truth, labels)


def test_boxes_at_any_angle_are_each_one_object(render: Any, box: Any) -> None:
    row = found(
        render,
        [
            box(-0.2, 0, 0, (0.1, 0.15, 0.2), 45),
            box(0.15, 0.1, 0, (0.2, 0.08, 0.1), 10),
            box(0.1, -0.2, 0, (0.1,) * 3, 70),
        ],
    )
    assert (row["objects_found"], row["f1_at_50"]) == (3, 1.0)
    assert row["mean_iou"] > 0.85


def test_box_on_a_box_is_an_object_of_its_own(render: Any, box: Any) -> None:
    row = found(render, [box(0, 0, 0, (0.3, 0.25, 0.08)), box(0.02, 0.03, 0.08, (0.1, 0.08, 0.15), 30)])
    assert (row["objects_found"], row["f1_at_50"]) == (2, 1.0)


def test_touching_boxes_are_split_where_they_meet(render: Any, box: Any) -> None:
    row = found(render, [box(-0.05, 0.08, 0, (0.1, 0.1, 0.22), 20), box(0.0, -0.03, 0, (0.16, 0.09, 0.08), 20)])
    assert (row["objects_found"], row["f1_at_50"]) == (2, 1.0)


@pytest.mark.parametrize("factor", [0.5, 1.0, 2.0])
def test_objects_are_the_same_at_any_resolution(render: Any, box: Any, factor: float) -> None:
    depth, truth, _, camera = render(
        [
            box(-0.2, 0, 0, (0.1, 0.15, 0.2), 45),
            box(0.15, 0.1, 0, (0.05, 0.08, 0.06), 10),
            box(0.1, -0.2, 0, (0.1,) * 3),
        ]
    )
    if factor < 1.0:
        depth, truth = depth[::2, ::2], truth[::2, ::2]
    else:
        depth, truth = (image.repeat(int(factor), axis=0).repeat(int(factor), axis=1) for image in (depth, truth))
    height, width = depth.shape
    fx, fy, cx, cy = (factor * value for value in (camera.fx, camera.fy, camera.cx, camera.cy))
    scaled = Intrinsics(fx, fy, cx, cy, width, height)
    row = score(truth, GeometricSegmenter(SegmentationConfig()).segment(np.ascontiguousarray(depth), scaled))
    assert (row["objects_found"], row["f1_at_50"]) == (3, 1.0)


def test_table_that_fills_the_view_from_near_is_no_object(render: Any, box: Any) -> None:
    depth, truth, _, camera = render([box(0.0, 0.0, 0, (0.1, 0.08, 0.12), 30)])
    rows, columns = np.nonzero(truth >= truth[truth > 0].max())
    window = np.s_[rows.min() - 20 : rows.max() + 20, columns.min() - 20 : columns.max() + 20]
    depth, truth = np.ascontiguousarray(depth[window]), truth[window]
    camera = Intrinsics(
        camera.fx,
        camera.fy,
        camera.cx - columns.min() + 20,
        camera.cy - rows.min() + 20,
        depth.shape[1],
        depth.shape[0],
    )
    row = score(truth, GeometricSegmenter(SegmentationConfig()).segment(depth, camera))
    assert (row["objects_found"], row["f1_at_50"]) == (1, 1.0)


def test_object_that_another_divides_stays_one(render: Any, box: Any) -> None:
    row = found(render, [box(0.0, 0.05, 0, (0.34, 0.15, 0.06)), box(0.0, -0.12, 0, (0.06, 0.06, 0.24))])
    assert (row["objects_found"], row["f1_at_50"]) == (2, 1.0)


def test_empty_table_and_empty_image_hold_nothing(render: Any) -> None:
    depth, _, _, camera = render([])
    segmenter = GeometricSegmenter()
    assert segmenter.segment(depth, camera).max() == 0
    assert segmenter.segment(np.full((480, 640), np.nan, np.float32), camera).max() == 0
    assert segmenter.detect(None, None, None) == []


def test_real_kinect_frames_are_segmented(shared_dir: Path, capsys: Any) -> None:
    import argparse
    import json

    assert run(argparse.Namespace(frames=shared_dir / "data" / "mosd", json=True)) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert set(rows[0]) == {"frame", "objects_true", "objects_found", "mean_iou", "f1_at_50", "ms"}
    assert rows[-1]["f1_at_50"] >= 0.85


def test_score_counts_a_table_taken_for_an_object_as_wrong() -> None:
    truth = np.full((10, 10), -1)
    truth[:3] = 2
    found_labels = np.where(truth == 2, 1, 2)
    assert score(truth, found_labels)["f1_at_50"] == 2 * 1 / 3
    assert score(truth, np.zeros((10, 10), int))["f1_at_50"] == 0.0


def test_camera_of_any_size_is_taken() -> None:
    depth = np.ones((61, 83), np.float32)
    assert GeometricSegmenter().segment(depth, Intrinsics(60, 60, 41, 30, 83, 61)).shape == (61, 83)

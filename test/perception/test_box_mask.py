"""Rectangles become masks: what lies wholly in one, without the table that it stands on and without its neighbours."""

from __future__ import annotations

import json
from pathlib import Path

import cv2
import numpy as np
import pytest
from box_world import CAMERA as WORLD_CAMERA
from box_world import BoxWorld, looking

from memory_node.domain.geometry import Intrinsics
from memory_node.perception.box_mask import masks_in_boxes
from memory_node.perception.detection import Detection
from memory_node.perception.pipeline import PerceptionPipeline
from memory_node.perception.surface import level_pose

CAMERA = Intrinsics(fx=525.0, fy=525.0, cx=319.5, cy=239.5, width=640, height=480)


def around(shown: np.ndarray) -> tuple[float, float, float, float]:
    rows, columns = np.nonzero(shown)
    return float(columns.min()), float(rows.min()), float(columns.max() + 1), float(rows.max() + 1)


def wall_with(*blocks: tuple[int, int, int, int, float]) -> np.ndarray:
    depth = np.full((480, 640), 1.5, np.float32)
    for left, top, right, bottom, block_m in blocks:
        depth[top:bottom, left:right] = block_m
    return depth


def test_thing_before_a_wall_is_cut_from_it_and_from_its_neighbour() -> None:
    depth = wall_with((200, 200, 260, 280, 1.3), (262, 150, 420, 300, 1.2))
    (mask,) = masks_in_boxes(depth, CAMERA, [(195.0, 190.0, 275.0, 290.0)])
    truth = np.zeros(depth.shape, bool)
    truth[200:280, 200:260] = True
    assert np.count_nonzero(mask & truth) / np.count_nonzero(mask | truth) > 0.85


def test_large_plane_in_its_rectangle_is_the_thing() -> None:
    depth = np.full((480, 640), 3.0, np.float32)
    depth[120:360, 160:480] = 1.5  # a screen, 91 x 69 cm
    (mask,) = masks_in_boxes(depth, CAMERA, [(155.0, 115.0, 485.0, 365.0)])
    assert np.count_nonzero(mask) / (240 * 320) == pytest.approx(1.0, abs=0.1)


@pytest.mark.parametrize("yaw_rad", [0.0, np.pi / 4])
def test_what_stands_on_a_table_is_not_of_the_table(yaw_rad: float) -> None:
    world = BoxWorld()
    world.put("table", 1.6, 0.0, 0.73, (1.2, 0.9, 0.04), yaw_rad)
    world.put("box", 1.6, 0.1, 0.82, (0.2, 0.2, 0.14), yaw_rad)
    depth, number = world.render(looking((0.0, 0.0, 1.9), (1.6, 0.0, 0.75)))
    (mask,) = masks_in_boxes(depth, WORLD_CAMERA, [around(number >= 0)])
    shown = [np.count_nonzero(mask & (number == i)) / np.count_nonzero(number == i) for i in (0, 1)]
    assert shown[0] > 0.8
    assert shown[1] < 0.2


def test_back_of_a_chair_is_of_the_chair() -> None:
    world = BoxWorld()
    world.put("seat", 1.6, 0.0, 0.4, (0.6, 0.6, 0.1))
    world.put("back", 1.9, 0.0, 0.7, (0.06, 0.6, 0.6))
    depth, number = world.render(looking((0.0, 0.3, 1.5), (1.7, 0.0, 0.5)))
    (mask,) = masks_in_boxes(depth, WORLD_CAMERA, [around(number >= 0)])
    shown = [np.count_nonzero(mask & (number == i)) / np.count_nonzero(number == i) for i in (0, 1)]
    assert min(shown) > 0.6


def test_what_lies_far_behind_a_thing_in_its_rectangle_is_not_of_it() -> None:
    depth = np.full((480, 640), 4.0, np.float32)
    depth[200:300, 200:360] = 1.3
    depth[205:265, 370:410] = 2.4
    (mask,) = masks_in_boxes(depth, CAMERA, [(195.0, 195.0, 415.0, 305.0)])
    assert np.count_nonzero(mask[200:300, 200:360]) > 0.8 * 100 * 160
    assert not mask[:, 365:].any()


def test_thing_that_lies_beside_its_rectangle_in_depth_is_found_whole() -> None:
    depth = wall_with((200, 200, 260, 280, 1.3))
    (mask,) = masks_in_boxes(depth, CAMERA, [(225.0, 190.0, 285.0, 275.0)])
    truth = np.zeros(depth.shape, bool)
    truth[200:280, 200:260] = True
    assert np.count_nonzero(mask & truth) / np.count_nonzero(mask | truth) > 0.8


def test_parts_of_a_thing_that_a_nearer_thing_divides_stay_together() -> None:
    depth = np.full((480, 640), 4.0, np.float32)
    depth[200:300, 200:360] = 1.3
    depth[100:480, 270:290] = 1.0
    (mask,) = masks_in_boxes(depth, CAMERA, [(195.0, 195.0, 365.0, 305.0)])
    assert mask[210:290, 210:260].mean() > 0.8
    assert mask[210:290, 300:350].mean() > 0.8


def test_rectangle_without_depth_has_no_mask() -> None:
    depth = wall_with((200, 200, 300, 300, float("nan")))
    (mask,) = masks_in_boxes(depth, CAMERA, [(210.0, 210.0, 290.0, 290.0)])
    assert not mask.any()
    assert masks_in_boxes(depth, CAMERA, []) == []


def test_rectangle_beyond_the_image_has_an_empty_mask() -> None:
    depth = wall_with((200, 200, 300, 300, 1.2))
    beyond = [(-90.0, -80.0, -10.0, -20.0), (700.0, 500.0, 760.0, 560.0), (100.0, -60.0, 200.0, -20.0)]
    for mask in masks_in_boxes(depth, CAMERA, beyond):
        assert mask.shape == depth.shape
        assert not mask.any()


@pytest.mark.parametrize("side", [1, 4, 6, 9])
def test_image_of_a_few_pixels_is_no_error(side: int) -> None:
    depth = np.full((side, side), 1.0, np.float32)
    camera = Intrinsics(fx=262.0, fy=262.0, cx=0.5 * side, cy=0.5 * side, width=side, height=side)
    (mask,) = masks_in_boxes(depth, camera, [(0.0, 0.0, float(side), float(side))])
    assert mask.shape == depth.shape


def test_real_rectangles_give_masks_and_sizes_of_their_things(shared_dir: Path) -> None:
    folder = shared_dir / "data" / "mosd"
    cameras = json.loads((folder / "intrinsics.json").read_text())
    pipeline, overlaps, errors = PerceptionPipeline(), [], []
    for path in sorted(folder.glob("*_depth.png")):
        name = path.name.removesuffix("_depth.png")
        depth = cv2.imread(str(path), -1).astype(np.float32) * 1e-3
        labels = cv2.imread(str(folder / f"{name}_label.png"), -1)
        told = cameras.get(name, cameras)
        camera = Intrinsics(told["fx"], told["fy"], told["cx"], told["cy"], 640, 480)
        pose = level_pose(depth, camera)
        assert pose is not None
        for number in np.unique(labels[labels >= 20] // 10).tolist():
            truth = labels // 10 == number
            rows, columns = np.nonzero(truth)
            box = tuple(map(float, (columns.min(), rows.min(), columns.max() + 1, rows.max() + 1)))
            (mask,) = masks_in_boxes(depth, camera, [box])  # type: ignore[list-item]
            either = np.count_nonzero((mask & (labels > 0)) | truth)
            overlaps.append(np.count_nonzero(mask & truth) / either)
            sizes = []
            for one in (truth, mask):
                frame = pipeline.observe(1, pose, camera, depth, [Detection({"thing": 1.0}, mask=one)])
                size = frame.observations[0].box.size
                sizes.append([*sorted(size[:2]), size[2]])
            errors.append(float(np.abs(np.divide(sizes[1], sizes[0]) - 1.0).mean()))
    assert np.mean(overlaps) >= 0.9
    assert np.median(errors) <= 0.15

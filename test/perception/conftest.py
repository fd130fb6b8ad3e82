"""Depth images of boxes on a table, with the noise of a structured-light camera."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from memory_node.domain.geometry import Intrinsics, OrientedBox, Pose

CAMERA = Intrinsics(525.0, 525.0, 319.5, 239.5, 640, 480)
Rendered = tuple[np.ndarray, np.ndarray, Pose, Intrinsics]


@pytest.fixture
def render() -> Callable[..., Rendered]:
    """Return a function (boxes, seed) -> depth (h, w) m, box number from 1 by pixel (0 table), map_T_camera,
    intrinsics.

    The table is the plane z = 0, seen from 0.75 m above and 0.8 m before the origin.
    """

    def rendered(boxes: list[OrientedBox], seed: int = 0, noise: bool = True) -> Rendered:
        eye = np.array([0.05, -0.8, 0.75])
        forward = -eye / np.linalg.norm(eye)
        right = np.cross(forward, [0.0, 0.0, 1.0])
        right /= np.linalg.norm(right)
        matrix = np.eye(4)
        matrix[:3, :3] = np.column_stack([right, np.cross(forward, right), forward])
        matrix[:3, 3] = eye
        rows, columns = np.indices((CAMERA.height, CAMERA.width))
        rays = np.stack([(columns - CAMERA.cx) / CAMERA.fx, (rows - CAMERA.cy) / CAMERA.fy, np.ones(rows.shape)], -1)
        rays = rays @ matrix[:3, :3].T
        with np.errstate(divide="ignore", invalid="ignore"):
            depth = np.where(rays[..., 2] < 0.0, -eye[2] / rays[..., 2], np.inf)
            number = np.zeros(depth.shape, int)
            for index, box in enumerate(boxes):
                turn = Pose.planar(0.0, 0.0, -box.yaw_rad)
                start, way = turn.apply(eye - box.center), turn.apply(rays)
                ends = np.stack([(-0.5 * box.size - start) / way, (0.5 * box.size - start) / way])
                enter, leave = ends.min(axis=0).max(axis=-1), ends.max(axis=0).min(axis=-1)
                hit = (enter < leave) & (enter > 0.0) & (enter < depth)
                depth[hit], number[hit] = enter[hit], index + 1
        depth = np.where(depth < 3.0, depth, 0.0)
        if noise:
            generator = np.random.default_rng(seed)
            disparity = np.divide(43.5, depth, out=np.zeros_like(depth), where=depth > 0.0)
            disparity = np.round((disparity + generator.normal(0.0, 0.06, depth.shape)) * 8.0) / 8.0
            depth = np.divide(43.5, disparity, out=np.zeros_like(depth), where=depth > 0.0)
        return depth.astype(np.float32), number, Pose.from_matrix(matrix), CAMERA

    return rendered


def box(x: float, y: float, z: float, size: tuple[float, float, float], yaw_deg: float = 0.0) -> OrientedBox:
    """Return a box that stands with its foot at height z."""
    return OrientedBox(np.array([x, y, z + 0.5 * size[2]]), np.array(size), np.radians(yaw_deg))


@pytest.fixture(name="box")
def box_fixture() -> Callable[..., OrientedBox]:
    """Return `box`."""
    return box

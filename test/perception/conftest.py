"""Depth images of boxes on a table, with the noise of a structured-light camera."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from box_world import cast_rays, looking

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
        camera = looking((0.05, -0.8, 0.75), (0.0, 0.0, 0.0))
        depth, number = cast_rays(CAMERA, camera, boxes)
        depth = np.where(depth < 3.0, depth, 0.0)
        if noise:
            generator = np.random.default_rng(seed)
            disparity = np.divide(43.5, depth, out=np.zeros_like(depth), where=depth > 0.0)
            disparity = np.round((disparity + generator.normal(0.0, 0.06, depth.shape)) * 8.0) / 8.0
            depth = np.divide(43.5, disparity, out=np.zeros_like(depth), where=depth > 0.0)
        return depth.astype(np.float32), number + 1, camera, CAMERA

    return rendered


def box(x: float, y: float, z: float, size: tuple[float, float, float], yaw_deg: float = 0.0) -> OrientedBox:
    """Return a box that stands with its foot at height z."""
    return OrientedBox(np.array([x, y, z + 0.5 * size[2]]), np.array(size), np.radians(yaw_deg))


@pytest.fixture(name="box")
def box_fixture() -> Callable[..., OrientedBox]:
    """Return `box`."""
    return box

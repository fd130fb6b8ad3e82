"""Which way is up, from one depth image: for recordings without TF."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.geometry import Intrinsics, Pose
from memory_node.perception.support_planes import large_planes
from memory_node.perception.surface import surface_of

# An optical frame looks along z with y down, so "up" is about -y; a wall's normal is not.
_UP_COSINE = 0.3


def level_pose(depth_m: NDArray[np.float32], intrinsics: Intrinsics, min_area_m2: float = 0.05) -> Pose | None:
    """Return the camera's pose over its largest horizontal surface: z up, that surface at z = 0, camera at x = y = 0.

    The camera looks along +x. None: no surface that could be horizontal is in view.
    """
    surface = surface_of(depth_m, intrinsics)
    planes = [p for p in large_planes(surface, min_area_m2, intrinsics.fx) if -p.normal[1] > _UP_COSINE]
    if not planes:
        return None
    plane = planes[0]
    up = plane.normal
    ahead = np.array([0.0, 0.0, 1.0]) - up[2] * up
    ahead /= np.linalg.norm(ahead)
    matrix = np.eye(4)
    # Rows: the map's axes x (ahead), y (left), z (up) in the camera's frame.
    matrix[:3, :3] = np.stack([ahead, np.cross(up, ahead), up])
    matrix[2, 3] = -plane.offset_m
    return Pose.from_matrix(matrix)

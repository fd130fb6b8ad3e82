"""Upright boxes around points, right for things that stand at any angle."""

from __future__ import annotations

import math

import cv2
import numpy as np
from numpy.typing import NDArray

from memory_node.domain.geometry import OrientedBox

Values = NDArray[np.float64]
_LARGE_M = 0.5
_EDGE_SAMPLE = 250
_EDGE_ANGLES = np.radians(np.arange(0.0, 90.0, 3.0))
_EDGE_M = 0.02
_MOST_BEYOND_M = 0.02


def fit_oriented_box(
    points: NDArray[np.floating], trim: float = 0.0, eye: NDArray[np.floating] | None = None, focal_px: float = 500.0
) -> OrientedBox:
    """Return the upright box of least footprint around points (n, 3), z up, n >= 1.

    The yaw is that of the smallest rectangle around the footprint's convex hull (rotating calipers); of large things,
    of which a camera often sees only a part, that of the sides that most points lie on (Zhang et al. 2017, L-shape
    fitting). `trim` is
    the share of the points that may lie beyond each face: depth noise would otherwise push every face outwards. With
    the camera's place `eye` (3,) the far sides reach half a pixel's ray beyond the last return, see `_beyond`.
    """
    x, y, z = (np.ascontiguousarray(points[:, axis], dtype=np.float64) for axis in range(3))
    origin_x, origin_y = float(x[0]), float(y[0])
    x, y = x - origin_x, y - origin_y
    yaw_rad = _footprint_yaw(x, y)
    cos, sin = math.cos(yaw_rad), math.sin(yaw_rad)
    along = np.empty((3, len(x)))
    along[0], along[1], along[2] = cos * x + sin * y, cos * y - sin * x, z
    (low_u, low_v, low_z), (high_u, high_v, high_z) = _ends(along, int(trim * (len(x) - 1)))
    if eye is not None:
        local_x, local_y = float(eye[0]) - origin_x, float(eye[1]) - origin_y
        from_u, from_v = cos * local_x + sin * local_y, cos * local_y - sin * local_x
        ray = 0.5 * (low_u + high_u) - from_u, 0.5 * (low_v + high_v) - from_v
        beyond_u, beyond_v = _beyond(ray, float(eye[2]) - high_z, focal_px)
        low_u, high_u = min(low_u, low_u + beyond_u), max(high_u, high_u + beyond_u)
        low_v, high_v = min(low_v, low_v + beyond_v), max(high_v, high_v + beyond_v)
    u, v = 0.5 * (low_u + high_u), 0.5 * (low_v + high_v)
    center = np.array([origin_x + cos * u - sin * v, origin_y + sin * u + cos * v, 0.5 * (low_z + high_z)])
    return OrientedBox(center, np.array([high_u - low_u, high_v - low_v, high_z - low_z]), yaw_rad)


def _ends(values: Values, rank: int) -> tuple[list[float], list[float]]:
    """Return of each row of values (k, n) the ones of `rank` from below and from above."""
    if rank == 0:
        return values.min(axis=1).tolist(), values.max(axis=1).tolist()
    last = values.shape[1] - 1 - rank
    values.partition((rank, last), axis=1)
    return values[:, rank].tolist(), values[:, last].tolist()


def _beyond(ray: tuple[float, float], drop_m: float, focal_px: float) -> tuple[float, float]:
    """Return how far the far sides extend beyond the last returns, along the ray (u, v) on the ground. A camera
    `drop_m` above the top sees it in few rows, some centimetres apart; the true edge lies between the last row on the
    top and the next row. At edges many returns are lost, too.
    """
    level = math.hypot(*ray)
    distance = math.hypot(level, drop_m)
    if level < 1e-6 or drop_m < 0.03 * distance:
        return 0.0, 0.0
    length = min(_MOST_BEYOND_M, 0.75 * distance**2 / focal_px / drop_m) / level
    return ray[0] * length, ray[1] * length


def _footprint_yaw(x: Values, y: Values) -> float:
    """Return the direction of the longer side of the footprint of points, in [-pi/2, pi/2)."""
    if len(x) < 3:
        return 0.0
    ground = np.empty((len(x), 2), np.float32)
    ground[:, 0], ground[:, 1] = x, y
    (_, (width, height), angle_deg) = cv2.minAreaRect(ground)
    yaw_rad = math.radians(angle_deg)
    if max(width, height) > _LARGE_M:
        yaw_rad, width, height = _edge_yaw(x, y, yaw_rad)
    return (yaw_rad + (0.5 * math.pi if height > width else 0.0) + 0.5 * math.pi) % math.pi - 0.5 * math.pi


def _edge_yaw(x: Values, y: Values, guess_rad: float) -> tuple[float, float, float]:
    """Return the yaw, `guess_rad` or one on a grid of 3 degrees, along whose box sides points lie closest, and both
    sides."""
    every = max(1, len(x) // _EDGE_SAMPLE)
    angles = np.append(_EDGE_ANGLES, guess_rad)
    cos, sin = np.cos(angles), np.sin(angles)
    # Where the points lie along the sides of a box at each angle, then across: (2 * angles, points).
    sides = np.stack([np.append(cos, -sin), np.append(sin, cos)], axis=1) @ np.stack([x[::every], y[::every]])
    low, high = sides.min(axis=1), sides.max(axis=1)
    gap = np.minimum(sides - low[:, None], high[:, None] - sides)
    gap = np.minimum(gap[: len(angles)], gap[len(angles) :])
    best = int(np.argmax((1.0 / np.maximum(gap, _EDGE_M)).sum(axis=1)))
    width, height = (high - low).reshape(2, -1)[:, best].tolist()
    return float(angles[best]), width, height

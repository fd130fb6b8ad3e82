"""Depth as a surface: points, normals, and where it is torn."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from memory_node.domain.geometry import Intrinsics

FloatArray = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Surface:
    """An organised cloud: points and unit normals towards the camera (h, w, 3) in the optical frame, valid (h, w),
    and `torn` (h, w), the pixels beside a jump in depth. Normals are only defined where valid."""

    points: FloatArray
    normals: FloatArray
    valid: NDArray[np.bool_]
    torn: NDArray[np.bool_]


def surface_of(depth_m: FloatArray, intrinsics: Intrinsics, window: int = 9, tear_at_1m: float = 0.02) -> Surface:
    """Return the surface of a depth image (h, w) in metres, 0 or NaN no return.

    Normals come from gradients of the inverse depth, which is linear in the pixel on every plane (so that averaging
    is exact) and in which a structured-light camera's noise is uniform. Gradients across jumps are left out of the
    average.
    """
    with np.errstate(invalid="ignore"):
        valid = depth_m > 0.0
    depth = np.where(valid, depth_m, np.float32(np.nan)).astype(np.float32, copy=False)
    with np.errstate(divide="ignore", invalid="ignore"):
        inverse = np.float32(1.0) / depth
    # A jump of the depth z is about z^2 times that of its inverse; noise grows like z^2, so the limit is one of the
    # inverse.
    slope_x, jump_x = _slope(inverse, 1, tear_at_1m)
    slope_y, jump_y = _slope(inverse, 0, tear_at_1m)
    mean_x = _masked_mean(slope_x, window)
    mean_y = _masked_mean(slope_y, window)
    height, width = depth.shape
    u = np.arange(width, dtype=np.float32) - np.float32(intrinsics.cx)
    v = (np.arange(height, dtype=np.float32) - np.float32(intrinsics.cy))[:, None]
    normals = np.empty((height, width, 3), np.float32)
    x, y = np.float32(intrinsics.fx) * mean_x, np.float32(intrinsics.fy) * mean_y
    z = _masked_mean(inverse, 3) - u * mean_x - v * mean_y
    with np.errstate(invalid="ignore", divide="ignore"):
        length = -np.sqrt(x * x + y * y + z * z)
        for axis, part in enumerate((x, y, z)):
            np.divide(part, length, out=normals[..., axis])
    points = np.empty((height, width, 3), np.float32)
    np.divide(u * depth, np.float32(intrinsics.fx), out=points[..., 0])
    np.divide(v * depth, np.float32(intrinsics.fy), out=points[..., 1])
    points[..., 2] = depth
    # A part of a normal is NaN or infinite where the length is.
    valid &= np.isfinite(length) & (length < 0.0)
    return Surface(points, normals, valid, jump_x | jump_y)


def _slope(inverse: FloatArray, axis: int, limit: float) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Return the central difference along an axis (NaN at jumps) and the pixels on both sides of a jump."""
    slope = np.full(inverse.shape, np.nan, np.float32)
    step = np.diff(inverse, axis=axis)
    # A steep surface has large steps all along; at a jump the steps before and after differ from it.
    before, after = np.roll(step, 2, axis=axis), np.roll(step, -2, axis=axis)
    with np.errstate(invalid="ignore"):
        jump = (np.abs(step) > limit) & ~(np.abs(step - before) < limit) & ~(np.abs(step - after) < limit)
    torn = np.zeros(inverse.shape, bool)
    if axis == 0:
        torn[1:] |= jump
        torn[:-1] |= jump
        slope[1:-1] = 0.5 * (inverse[2:] - inverse[:-2])
    else:
        torn[:, 1:] |= jump
        torn[:, :-1] |= jump
        slope[:, 1:-1] = 0.5 * (inverse[:, 2:] - inverse[:, :-2])
    np.copyto(slope, np.float32(np.nan), where=torn)
    return slope, torn


def _masked_mean(values: FloatArray, window: int) -> FloatArray:
    """Return the mean over a square window, NaN left out; NaN where less than a fifth of the window has a value."""
    known = np.isfinite(values)
    total = cv2.boxFilter(np.where(known, values, np.float32(0.0)), -1, (window, window), normalize=False)
    count = cv2.boxFilter(known.astype(np.float32), -1, (window, window), normalize=False)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = total / count
    np.copyto(mean, np.float32(np.nan), where=count < max(1.0, 0.2 * window * window))
    return np.asarray(mean, dtype=np.float32)

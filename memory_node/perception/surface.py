"""Depth as a surface: points, normals, where it is torn, its large planes, and which way is up."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from memory_node.domain.geometry import Intrinsics, Pose

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


_JUDGES = 1500


@dataclass(frozen=True, eq=False)
class Plane:
    """normal . point = offset_m in the camera's frame, the unit normal towards the camera (so offset_m < 0)."""

    normal: NDArray[np.float64]
    offset_m: float

    def height(self, points: NDArray[np.floating]) -> NDArray[np.floating]:
        """Return how far points (..., 3) lie on the camera's side of the plane, in metres."""
        return points @ self.normal.astype(points.dtype) - points.dtype.type(self.offset_m)


def large_planes(surface: Surface, min_area_m2: float, focal_px: float, seed: int = 0, most: int = 6) -> list[Plane]:
    """Return up to `most` planes with at least `min_area_m2` of visible surface, largest first.

    A candidate is one pixel's point and normal; it is supported by pixels near it whose normals agree (RANSAC with
    one sample).
    """
    generator = np.random.default_rng(seed)
    at = np.flatnonzero(surface.valid & ~surface.torn)
    if at.size < 50:
        return []
    chosen = at[generator.permutation(at.size)[:6000]]
    points = surface.points.reshape(-1, 3)[chosen].astype(np.float64)
    normals = surface.normals.reshape(-1, 3)[chosen].astype(np.float64)
    # A pixel covers z^2 / f^2, more where the surface is seen at a slant.
    slant = np.abs((points * normals).sum(axis=1)) / np.linalg.norm(points, axis=1)
    covered = points[:, 2] ** 2 / focal_px**2 / np.maximum(slant, 0.15) * (at.size / len(chosen))
    left = _Sample(points, normals, covered, _tolerance(points))
    planes: list[Plane] = []
    while len(planes) < most:
        plane, area_m2 = _best_plane(left, generator)
        if plane is None or area_m2 < min_area_m2:
            break
        planes.append(plane)
        left = left.of(np.abs(plane.height(left.points)) > 2.0 * left.tolerance)
    return planes


@dataclass(frozen=True, eq=False)
class _Sample:
    """Points and normals (n, 3), the area in m2 that each stands for and its depth noise in metres (n,)."""

    points: NDArray[np.float64]
    normals: NDArray[np.float64]
    covered: NDArray[np.float64]
    tolerance: NDArray[np.float64]

    def of(self, kept: NDArray[np.bool_]) -> _Sample:
        at = np.flatnonzero(kept)
        return _Sample(self.points[at], self.normals[at], self.covered[at], self.tolerance[at])


def _best_plane(left: _Sample, generator: np.random.Generator) -> tuple[Plane | None, float]:
    """Return the plane that most area lies on, and that area in m2."""
    points, normals, count = left.points, left.normals, len(left.points)
    if count < 30:
        return None, 0.0
    picked = generator.choice(count, min(60, count), replace=False)
    best = picked[int(np.argmax(_support(left, picked)))]
    plane, area_m2 = Plane(normals[best], float(points[best] @ normals[best])), 0.0
    for width in (2.5, 1.5, 1.0):
        inliers = (np.abs(plane.height(points)) < width * left.tolerance) & (normals @ plane.normal > 0.9)
        at = np.flatnonzero(inliers)
        if at.size < 20:
            return None, 0.0
        plane, area_m2 = _fit(points[at], left.covered[at]), float(left.covered[at].sum())
    return plane, area_m2


def _support(left: _Sample, picked: NDArray[np.intp]) -> NDArray[np.float32]:
    """Return the area in m2 (k,) that lies on the planes through `picked` points (k,), as a part of the points tells.

    In single precision: it tells the candidates apart, the best one is fitted to all points.
    """
    some = slice(None, None, max(1, len(left.points) // _JUDGES))
    normals = left.normals[picked].astype(np.float32)
    offsets = (left.points[picked] * left.normals[picked]).sum(axis=1)
    heights = normals @ left.points[some].T.astype(np.float32) - offsets.astype(np.float32)[:, None]
    np.abs(heights, out=heights)
    near = heights < 2.0 * left.tolerance[some].astype(np.float32)
    near &= normals @ left.normals[some].T.astype(np.float32) > np.float32(0.95)
    return np.asarray(near.astype(np.float32) @ left.covered[some].astype(np.float32))


def _fit(points: NDArray[np.float64], weights: NDArray[np.float64]) -> Plane:
    middle = weights @ points / weights.sum()
    shifted = points - middle
    _, vectors = np.linalg.eigh((shifted * weights[:, None]).T @ shifted)
    normal = vectors[:, 0]
    offset = float(normal @ middle)
    return Plane(-normal, -offset) if offset > 0.0 else Plane(normal, offset)


def _tolerance(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the depth noise of points (n, 3) in metres, for a structured-light camera (Khoshelham and Elberink
    2012)."""
    return np.asarray(0.004 + 0.003 * points[:, 2] ** 2)


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

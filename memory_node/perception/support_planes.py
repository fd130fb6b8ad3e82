"""The large planes of a scene: floors, table tops, walls, found by sampling and refined by least squares."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory_node.perception.surface import Surface

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

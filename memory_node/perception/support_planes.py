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
    rows, columns = np.nonzero(surface.valid & ~surface.torn)
    if rows.size < 50:
        return []
    chosen = generator.permutation(rows.size)[:6000]
    points = surface.points[rows[chosen], columns[chosen]].astype(np.float64)
    normals = surface.normals[rows[chosen], columns[chosen]].astype(np.float64)
    # A pixel covers z^2 / f^2, more where the surface is seen at a slant.
    slant = np.abs((points * normals).sum(axis=1)) / np.linalg.norm(points, axis=1)
    covered = points[:, 2] ** 2 / focal_px**2 / np.maximum(slant, 0.15) * (rows.size / len(chosen))
    planes: list[Plane] = []
    left = np.ones(len(points), bool)
    while len(planes) < most:
        plane, inliers = _best_plane(points, normals, covered, left, generator)
        if plane is None or covered[inliers].sum() < min_area_m2:
            break
        planes.append(plane)
        left &= np.abs(plane.height(points)) > 2.0 * _tolerance(points)
    return planes


def _best_plane(
    points: NDArray[np.float64],
    normals: NDArray[np.float64],
    covered: NDArray[np.float64],
    left: NDArray[np.bool_],
    generator: np.random.Generator,
) -> tuple[Plane | None, NDArray[np.bool_]]:
    candidates = np.flatnonzero(left)
    none = np.zeros(len(points), bool)
    if len(candidates) < 30:
        return None, none
    picked = generator.choice(candidates, min(60, len(candidates)), replace=False)
    offsets = (points[picked] * normals[picked]).sum(axis=1)
    # A part of the points tells the candidates apart; the best one is fitted to all of them.
    some = candidates[:: max(1, len(candidates) // _JUDGES)]
    heights = np.abs(points[some] @ normals[picked].T - offsets)
    agree = normals[some] @ normals[picked].T > 0.95
    support = ((heights < 2.0 * _tolerance(points[some])[:, None]) & agree).T @ covered[some]
    best = picked[int(np.argmax(support))]
    plane = Plane(normals[best], float(points[best] @ normals[best]))
    inliers = none
    for width in (2.5, 1.5, 1.0):
        inliers = left & (np.abs(plane.height(points)) < width * _tolerance(points)) & (normals @ plane.normal > 0.9)
        if inliers.sum() < 20:
            return None, none
        plane = _fit(points[inliers], covered[inliers])
    return plane, inliers


def _fit(points: NDArray[np.float64], weights: NDArray[np.float64]) -> Plane:
    middle = np.average(points, axis=0, weights=weights)
    shifted = points - middle
    _, vectors = np.linalg.eigh((shifted * weights[:, None]).T @ shifted)
    normal = vectors[:, 0]
    offset = float(normal @ middle)
    return Plane(-normal, -offset) if offset > 0.0 else Plane(normal, offset)


def _tolerance(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the depth noise of points (n, 3) in metres, for a structured-light camera (Khoshelham and Elberink
    2012)."""
    return np.asarray(0.004 + 0.003 * points[:, 2] ** 2)

"""Which of the pieces of surface in a rectangle make up one thing."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from memory_node.domain.geometry import Intrinsics
from memory_node.perception.convex_parts import LabelArray
from memory_node.perception.support_planes import Plane

# A thing that stands on a plane: least share of it over the plane's visible outline, and largest size, as a share of
# the plane's. The back of a sofa rises behind its seat, not over it.
_OVER, _SMALL = 0.9, 0.25
# Pieces of one thing are at most about two cells apart. Side of a cell, as a share of the rectangle's diagonal at the
# thing's distance; least side, in metres at 0 m, and what depth noise adds to it at 1 m.
_CELL_SHARE, _LEAST_CELL_M, _CELL_NOISE_M = 0.15, 0.03, 0.005
# Points by which pieces are compared, about.
_ENOUGH = 3000


@dataclass(frozen=True, eq=False)
class WindowView:
    """A window of an image: points (h, w, 3) in the optical frame, and a camera whose image the window is."""

    points: NDArray[np.float32]
    camera: Intrinsics

    @classmethod
    def of(cls, points: NDArray[np.float32], camera: Intrinsics, window: tuple[slice, slice]) -> WindowView:
        """Return the part of an image's points (height, width, 3) in a window that is not empty."""
        rows, columns = window
        height, width = rows.stop - rows.start, columns.stop - columns.start
        cx, cy = camera.cx - columns.start, camera.cy - rows.start
        return cls(points[window], Intrinsics(camera.fx, camera.fy, cx, cy, width, height))


def without_things_on(view: WindowView, parts: LabelArray, face: NDArray[np.bool_], plane: Plane) -> LabelArray:
    """Return the part numbers (h, w) less the parts that stand on a face (h, w) of a plane: small ones that lie, along
    the plane's normal, over its outline."""
    pixels = face.astype(np.uint8)
    edges, _ = cv2.findContours(pixels, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    outline = cv2.fillConvexPoly(np.zeros(face.shape, np.uint8), cv2.convexHull(np.concatenate(edges)), 1) > 0
    most = _SMALL * int(pixels.sum())
    left = parts.copy()
    for number, window in enumerate(ndimage.find_objects(parts), start=1):
        if window is None:
            continue
        piece = parts[window] == number
        if np.count_nonzero(piece) < most and _is_over(view, view.points[window][piece], outline, plane):
            left[window][piece] = 0
    return left


def _is_over(view: WindowView, points: NDArray[np.float32], outline: NDArray[np.bool_], plane: Plane) -> bool:
    points = points[np.isfinite(points).all(axis=1)]
    if not len(points):
        return False
    height = plane.height(points)
    if np.median(height) <= 0.0:
        return False
    foot = points - height[:, None] * plane.normal.astype(np.float32)
    camera, ahead = view.camera, foot[:, 2] > 0.0
    foot = foot[ahead]
    column = np.rint(foot[:, 0] / foot[:, 2] * camera.fx + camera.cx).astype(np.intp)
    row = np.rint(foot[:, 1] / foot[:, 2] * camera.fy + camera.cy).astype(np.intp)
    shown = (row >= 0) & (row < camera.height) & (column >= 0) & (column < camera.width)
    over = np.count_nonzero(outline[row[shown], column[shown]])
    return bool(over >= _OVER * len(points))


def main_body(view: WindowView, inside: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the largest part of a mask (h, w) that is not far from itself in space.

    Pieces belong together when they lie in cells of a grid that touch. The cells grow with the rectangle, because a
    large thing may be divided by a larger one before it.
    """
    every = max(1, round((np.count_nonzero(inside) / _ENOUGH) ** 0.5))
    rows, columns = np.nonzero(inside[::every, ::every])
    points = view.points[rows * every, columns * every]
    known = np.isfinite(points).all(axis=1)
    rows, columns, points = rows[known], columns[known], points[known]
    if len(points) < 2:
        return inside
    cell_m = _cell_m(view.camera, float(np.median(points[:, 2])))
    cells = np.floor((points - points.min(axis=0)) / np.float32(cell_m)).astype(np.intp)
    grid = np.zeros(tuple(cells.max(axis=0) + 1), bool)
    grid[tuple(cells.T)] = True
    bodies, count = ndimage.label(grid, np.ones((3, 3, 3), bool))
    if count == 1:
        return inside
    body = bodies[tuple(cells.T)]
    largest = body == np.bincount(body).argmax()
    # Every sample stands for a square of pixels.
    far = np.zeros(inside[::every, ::every].shape, bool)
    far[rows[~largest], columns[~largest]] = True
    far = far.repeat(every, axis=0).repeat(every, axis=1)[: inside.shape[0], : inside.shape[1]]
    return np.asarray(inside & ~far)


def _cell_m(camera: Intrinsics, distance_m: float) -> float:
    diagonal_m = float(np.hypot(camera.width / camera.fx, camera.height / camera.fy)) * distance_m
    return max(_LEAST_CELL_M + _CELL_NOISE_M * distance_m**2, _CELL_SHARE * diagonal_m)

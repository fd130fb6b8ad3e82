"""Masks for detectors that give only rectangles: the pieces of surface that lie wholly in the rectangle. The image is
divided as without a detector: large planes are removed, the rest is split into convex pieces. Pieces of the thing lie
in its rectangle; pieces of its support, of things that it leans against and of things that hide it reach beyond. A
large plane that lies wholly in a rectangle, such as a table's top or a screen, is of that thing. What stands on such a
plane is not, nor is what lies far behind and shows in the same rectangle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from memory_node.domain.geometry import Intrinsics
from memory_node.perception.convex_parts import LabelArray, convex_parts, rejoin_parts
from memory_node.perception.segmentation import at_full_size, standing_out, thinned, with_floors
from memory_node.perception.surface import Plane, Surface, large_planes, surface_of

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


Box = tuple[float, float, float, float]
_WORKING_FOCAL_PX = 262.0
_FARTHEST_M = 8.0
_MIN_PLANE_M2 = 0.2
_PLANE_MARGIN_M = 0.006
# Share of a piece in the rectangle from which it is of the thing; of a piece of a large plane.
_INSIDE, _PLANE_INSIDE = 0.7, 0.85
# Share of the rectangle that a piece of a plane must cover: less may be floor that shows between a chair's legs.
_PLANE_COVERS = 0.3
# Margin around a rectangle in which pieces are looked for, as a share of its sides.
_AROUND = 0.35
# Least intersection over union of a piece that reaches beyond a rectangle with it, to be the thing all the same.
_ALIKE = 0.25
# A mask that covers a smaller share of its rectangle is dropped.
_LEAST_SHARE = 0.06


@dataclass(frozen=True, eq=False)
class Relief:
    """What a depth image (h, w) tells before any rectangle is known: its surface, thinned out by a stride, the camera
    of that, and the large planes."""

    surface: Surface
    camera: Intrinsics
    stride: int
    planes: list[Plane]


def relief_of(depth_m: NDArray[np.float32], intrinsics: Intrinsics) -> Relief:
    """Return the surface and the large planes of a depth image (h, w) in metres."""
    small, camera, stride = thinned(depth_m, intrinsics, _WORKING_FOCAL_PX, _FARTHEST_M)
    surface = surface_of(small, camera)
    return Relief(surface, camera, stride, large_planes(surface, _MIN_PLANE_M2, camera.fx))


def masks_in_boxes(
    depth_m: NDArray[np.float32], intrinsics: Intrinsics, boxes: Sequence[Box], relief: Relief | None = None
) -> list[NDArray[np.bool_]]:
    """Return for each rectangle (left, top, right, bottom) in pixels the mask (h, w) of what it was drawn around; empty
    where the rectangle has no depth. relief: of this depth image, where it is known already."""
    if not boxes:
        return []
    known = relief if relief is not None else relief_of(depth_m, intrinsics)
    surface, stride = known.surface, known.stride
    wanted = np.zeros(surface.valid.shape, bool)
    for box in boxes:
        wanted[_window(_grown(box), stride, wanted.shape)] = True
    mask = standing_out(surface, known.planes, _PLANE_MARGIN_M) & wanted
    labels = with_floors(rejoin_parts(convex_parts(surface, mask), surface, known.planes))
    faces, plane_of = _plane_pieces(surface, known.planes, mask)
    pieces = _Pieces(labels, _INSIDE, 0.0), _Pieces(faces, _PLANE_INSIDE, _PLANE_COVERS)
    return [_mask(box, known, pieces, plane_of, depth_m) for box in boxes]


class _Pieces:
    """Numbered pieces of an image (h, w), and which of them belong to a rectangle."""

    def __init__(self, labels: LabelArray, least: float, covered: float) -> None:
        self.labels = labels
        self._sizes = np.bincount(labels.ravel())
        self._least = least * self._sizes
        self._covered = covered

    def of(self, window: tuple[slice, slice]) -> LabelArray:
        """Return the numbers in a window of the pieces of which enough lies in it and covers it, 0 elsewhere."""
        here = self.labels[window]
        within = np.bincount(here.ravel(), minlength=len(self._least))
        kept = (within >= self._least) & (within >= self._covered * here.size)
        kept[0] = False
        return np.where(kept[here], here, 0).astype(np.int32)

    def most_alike(self, window: tuple[slice, slice]) -> NDArray[np.bool_]:
        """Return the pixels (h, w) of the piece that overlaps a window best, none where all overlap it little."""
        here = self.labels[window]
        within = np.bincount(here.ravel(), minlength=len(self._sizes))
        overlap = within / np.maximum(self._sizes + here.size - within, 1)
        overlap[0] = 0.0
        best = int(np.argmax(overlap))
        return np.asarray((self.labels == best) & (overlap[best] >= _ALIKE))


def _mask(
    box: Box, relief: Relief, pieces: tuple[_Pieces, _Pieces], plane_of: Sequence[Plane], depth_m: NDArray[np.float32]
) -> NDArray[np.bool_]:
    window = _window(box, relief.stride, pieces[0].labels.shape)
    parts, faces = (some.of(window) for some in pieces)
    if not parts.size:
        return np.zeros(depth_m.shape, bool)
    view = WindowView.of(relief.surface.points, relief.camera, window)
    for face in np.unique(faces[faces > 0]).tolist():
        parts = without_things_on(view, parts, faces == face, plane_of[face])
    inside = main_body(view, (parts > 0) | (faces > 0))
    if np.count_nonzero(inside) >= _LEAST_SHARE * inside.size:
        return _at_full_size(inside, window, box, relief.stride, depth_m.shape)
    # Colour and depth that do not lie exactly over each other put a thing partly beyond its rectangle.
    whole = pieces[0].most_alike(window)
    if whole.any():
        return at_full_size(whole, depth_m.shape, relief.stride)
    return mask_in_box(depth_m, box)


def _at_full_size(
    inside: NDArray[np.bool_], window: tuple[slice, slice], box: Box, stride: int, shape: tuple[int, ...]
) -> NDArray[np.bool_]:
    """Return the mask (h, w) of a window of the thinned image, cut to the rectangle."""
    full = _window(box, 1, shape)
    rows, columns = (np.arange(side.start, side.stop) // stride - small.start for side, small in zip(full, window))
    mask = np.zeros(shape, bool)
    mask[full] = inside[np.ix_(rows, columns)]
    return mask


def _plane_pieces(
    surface: Surface, planes: Sequence[Plane], taken: NDArray[np.bool_]
) -> tuple[LabelArray, list[Plane]]:
    """Return numbers (h, w) of the connected pieces of large planes, 0 elsewhere, and the plane of each number."""
    plane_of = list(planes[:1])
    pieces, count = np.zeros(taken.shape, np.int32), 0
    free = surface.valid & ~taken
    margin = _PLANE_MARGIN_M + 0.0035 * surface.points[..., 2] ** 2
    for plane in planes:
        with np.errstate(invalid="ignore"):
            near = free & (np.abs(plane.height(surface.points)) < margin)
        highest, found = cv2.connectedComponents(near.astype(np.uint8), connectivity=4)
        np.add(found, count, out=pieces, where=near)
        free &= ~near
        count += highest - 1
        plane_of += [plane] * (highest - 1)
    return pieces, plane_of


def _window(box: Box, stride: int, shape: tuple[int, ...]) -> tuple[slice, slice]:
    """Return the rows and columns of a rectangle in an image (h, w) that is thinned out by a stride."""
    left, top, right, bottom = box
    high, wide = shape[:2]
    rows = slice(min(high, max(0, int(top / stride))), min(high, max(0, int(np.ceil(bottom / stride)))))
    columns = slice(min(wide, max(0, int(left / stride))), min(wide, max(0, int(np.ceil(right / stride)))))
    return rows, columns


def _grown(box: Box) -> Box:
    wide, high = _AROUND * (box[2] - box[0]), _AROUND * (box[3] - box[1])
    return box[0] - wide, box[1] - high, box[2] + wide, box[3] + high


def mask_in_box(depth_m: NDArray[np.float32], box_px: Box, gap_m: float = 0.05) -> NDArray[np.bool_]:
    """Return the mask (height, width) of the pixels connected in depth to the nearest surface in a rectangle's middle.

    Connected are neighbours that differ by less than `gap_m` per metre of distance. Empty when the rectangle has no
    depth.
    """
    height, width = depth_m.shape
    left, top = max(0, int(box_px[0])), max(0, int(box_px[1]))
    right, bottom = min(width, int(np.ceil(box_px[2]))), min(height, int(np.ceil(box_px[3])))
    mask = np.zeros(depth_m.shape, bool)
    if right - left < 3 or bottom - top < 3:
        return mask
    depth = np.nan_to_num(depth_m[top:bottom, left:right])
    high, wide = depth.shape
    middle = depth[high // 4 : high - high // 4, wide // 4 : wide - wide // 4]
    returns = middle[middle > 0.0]
    if not returns.size:
        return mask
    seed_depth = float(np.quantile(returns, 0.3))
    smooth = depth > 0.0
    tear = gap_m * max(1.0, seed_depth)
    smooth[:, 1:] &= np.abs(np.diff(depth, axis=1)) < tear
    smooth[1:] &= np.abs(np.diff(depth, axis=0)) < tear
    _, parts = cv2.connectedComponents(smooth.astype(np.uint8), connectivity=4)
    inner = parts[high // 4 : high - high // 4, wide // 4 : wide - wide // 4]
    near = inner[(np.abs(middle - seed_depth) < 2.0 * tear) & (inner > 0)]
    if near.size:
        mask[top:bottom, left:right] = parts == np.bincount(near).argmax()
    return mask

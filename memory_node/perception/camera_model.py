"""A pinhole camera with its lens, and two cameras' images brought to one view."""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.geometry import Intrinsics, Pose


@dataclass(frozen=True)
class Camera:
    """Focal lengths and principal point in pixels; width and height: 0 where the file does not say.

    distortion: k1, k2, p1, p2, k3, ... as OpenCV and ROS (plumb_bob, rational_polynomial) order them; of a fisheye lens
    (equidistant) k1 to k4. beside_m: of a colour camera, where it is in the frame of its depth camera (x right, y
    down).
    """

    fx: float
    fy: float
    cx: float
    cy: float
    width: int = 0
    height: int = 0
    distortion: tuple[float, ...] = ()
    beside_m: tuple[float, float] = (0.0, 0.0)
    fisheye: bool = False

    def __post_init__(self) -> None:
        values = (self.fx, self.fy, self.cx, self.cy, *self.distortion)
        if not all(map(np.isfinite, values)) or self.fx <= 0.0 or self.fy <= 0.0:
            raise InvalidValueError(f"expected a camera with positive focal lengths, got {self}")

    def intrinsics(self, shape: tuple[int, ...]) -> Intrinsics:
        """Return the pinhole camera of an image of a shape (h, w)."""
        return Intrinsics(self.fx, self.fy, self.cx, self.cy, width=shape[1], height=shape[0])

    def rectified_depth(self, depth_m: NDArray[np.float32]) -> tuple[NDArray[np.float32], Intrinsics]:
        """Return a depth image (h, w) without distortion, and its camera. Depths are not mixed with one another."""
        intrinsics = self.intrinsics(depth_m.shape)
        if not any(self.distortion):
            return depth_m, intrinsics
        columns, rows = self._undistort_maps(depth_m.shape)
        straight = cv2.remap(depth_m, columns, rows, cv2.INTER_NEAREST, borderValue=float("nan"))
        return np.asarray(straight, dtype=np.float32), intrinsics

    def rectified_color(self, color: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Return an image (h, w, 3) without distortion, of the same camera."""
        if not any(self.distortion):
            return color
        columns, rows = self._undistort_maps(color.shape)
        return np.asarray(cv2.remap(color, columns, rows, cv2.INTER_LINEAR), dtype=np.uint8)

    def distorted(
        self, x: NDArray[np.floating], y: NDArray[np.floating]
    ) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
        """Return where rays (x, y) at depth 1, each (h, w), fall with this camera's distortion."""
        if not any(self.distortion):
            return x, y
        rays = np.stack([x.ravel(), y.ravel(), np.ones(x.size)], axis=1)
        if self.fisheye:
            bent, _ = cv2.fisheye.projectPoints(rays[:, None], np.zeros(3), np.zeros(3), np.eye(3), self._coefficients)
        else:
            bent, _ = cv2.projectPoints(rays, np.zeros(3), np.zeros(3), np.eye(3), self._coefficients)
        columns, rows = np.asarray(bent).reshape(-1, 2).T
        return columns.reshape(x.shape), rows.reshape(y.shape)

    def _undistort_maps(self, shape: tuple[int, ...]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        matrix = np.array([[self.fx, 0.0, self.cx], [0.0, self.fy, self.cy], [0.0, 0.0, 1.0]])
        size = (shape[1], shape[0])
        make_maps = cv2.fisheye.initUndistortRectifyMap if self.fisheye else cv2.initUndistortRectifyMap
        columns, rows = make_maps(matrix, self._coefficients, np.eye(3), matrix, size, cv2.CV_32FC1)
        return np.asarray(columns, np.float32), np.asarray(rows, np.float32)

    @property
    def _coefficients(self) -> NDArray[np.float64]:
        return np.array(self.distortion[:4] if self.fisheye else self.distortion)


# Where depth is unknown, the colour of what lies about as far as its surroundings.
_COARSE = 8
# What is nearer or farther is no depth; in millimetres it fits sixteen bits.
_NEAREST_M, _FARTHEST_M, _FARTHEST_MM = 0.05, 65.0, np.uint16(65_000)
# A view that is finer by less than this covers no further pixel.
_ABOUT_EQUAL = 0.1
# Share of a depth below which another one is of something before it.
_BEHIND = 0.95


def color_in_depth_view(
    color: NDArray[np.uint8], camera: Camera, depth_m: NDArray[np.float32], view: Intrinsics
) -> NDArray[np.uint8]:
    """Return for each pixel of a depth image (h, w) the colour (h, w, 3) that the colour camera saw there.

    camera: of the colour image, with `camera.beside_m` as its place in the frame of the depth camera, axes parallel.
    """
    rows, columns = np.indices(depth_m.shape, dtype=np.float32)
    x, y = (columns - np.float32(view.cx)) / np.float32(view.fx), (rows - np.float32(view.cy)) / np.float32(view.fy)
    if any(camera.beside_m):
        depth = _filled(depth_m)
        x = x - np.float32(camera.beside_m[0]) / depth
        y = y - np.float32(camera.beside_m[1]) / depth
    x, y = camera.distorted(x, y)
    return np.asarray(
        cv2.remap(
            color,
            (x * np.float32(camera.fx) + np.float32(camera.cx)).astype(np.float32),
            (y * np.float32(camera.fy) + np.float32(camera.cy)).astype(np.float32),
            cv2.INTER_LINEAR,
            borderMode=cv2.BORDER_REPLICATE,
        ),
        dtype=np.uint8,
    )


def _filled(depth_m: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the depth with its holes filled by means of what is known around them, near ones first."""
    known = np.nan_to_num(depth_m) > 0.0
    total, count = np.where(known, depth_m, 0.0).astype(np.float32), known.astype(np.float32)
    filled = np.where(known, depth_m, np.float32(0.0))
    for window in (_COARSE, 4 * _COARSE, 16 * _COARSE):
        size = (2 * window + 1, 2 * window + 1)
        near, number = (cv2.boxFilter(image, -1, size, normalize=False) for image in (total, count))
        take = (filled == 0.0) & (number > 0.5)
        filled[take] = (near[take] / number[take]).astype(np.float32)
    filled[filled == 0.0] = np.float32(np.mean(depth_m[known])) if known.any() else np.float32(1.0)
    return filled


def depth_in_color_view(
    depth_m: NDArray[np.float32], camera: Intrinsics, color_T_depth: Pose, view: Intrinsics
) -> NDArray[np.float32]:
    """Return depth (h, w) of a depth camera as a colour camera sees it (h', w'), NaN where nothing is known.

    camera, view: of the depth and of the colour camera, both without distortion. Each depth covers as many pixels of
    the view as its own pixel does, the near one hides the far one, and gaps of one pixel between them are closed.
    """
    x, y, z = _moved(depth_m, camera, color_T_depth.matrix.astype(np.float32))
    across, down = (
        max(1, math.ceil(of_view / own - _ABOUT_EQUAL)) for of_view, own in ((view.fx, camera.fx), (view.fy, camera.fy))
    )
    with np.errstate(all="ignore"):  # no return is NaN, and stays so until it is left out
        column = x / z * np.float32(view.fx) + np.float32(view.cx - 0.5 * (across - 1))
        row = y / z * np.float32(view.fy) + np.float32(view.cy - 0.5 * (down - 1))
        seen = (z > _NEAREST_M) & (z < _FARTHEST_M)
        seen &= (column > 0.5 - across) & (column < view.width - 0.5) & (row > 0.5 - down) & (row < view.height - 0.5)
    z, width = z[seen], view.width + 2 * across  # a margin takes what reaches over the edges
    first = (row[seen] + np.float32(down + 0.5)).astype(np.int32) * np.int32(width)
    first += (column[seen] + np.float32(across + 0.5)).astype(np.int32)
    # Far ones first, so that near ones are written over them. Sixteen bits are sorted by radix, ten times as fast.
    order = np.argsort(_FARTHEST_MM - (1e3 * z).astype(np.uint16), kind="stable")
    offsets = np.add.outer(np.arange(down, dtype=np.int32) * width, np.arange(across, dtype=np.int32)).ravel()
    laid = np.zeros((view.height + 2 * down, width), np.float32)
    laid.ravel()[np.add.outer(first[order], offsets).ravel()] = np.repeat(z[order], offsets.size)
    laid = np.ascontiguousarray(laid[down : down + view.height, across : across + view.width])
    return _without_slits(laid)


def _without_slits(laid_m: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return depth (h, w) whose gaps of one pixel, where 0 or something behind shows, are closed; what is still 0 is
    NaN."""
    square = np.ones((3, 3), np.uint8)
    farthest_near = cv2.dilate(laid_m, square)
    is_gap = (laid_m == 0.0) & (cv2.erode(farthest_near, square) > 0.0)
    depth = np.where(is_gap, farthest_near, laid_m)
    _close_slits(depth)
    _close_slits(depth.T)
    depth[depth == 0.0] = np.nan
    return depth


def _close_slits(depth_m: NDArray[np.float32]) -> None:
    """Bring columns of one pixel, of a depth image (h, w), to the nearer ones on both their sides."""
    nearer = np.minimum(depth_m[:, :-1], depth_m[:, 1:])
    beside = np.maximum(nearer[:, :-1], nearer[:, 1:])
    between = depth_m[:, 1:-1]
    np.copyto(between, beside, where=(beside > 0.0) & (beside < _BEHIND * between))


def _moved(
    depth_m: NDArray[np.float32], camera: Intrinsics, view_T_camera: NDArray[np.float32]
) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
    """Return the coordinates, each (h, w), of a depth image's points in another frame, NaN where there is none."""
    x = (np.arange(depth_m.shape[1], dtype=np.float32) - np.float32(camera.cx)) / np.float32(camera.fx)
    y = (np.arange(depth_m.shape[0], dtype=np.float32)[:, None] - np.float32(camera.cy)) / np.float32(camera.fy)
    depth = np.where(depth_m > 0.0, depth_m, np.float32(np.nan))
    first, second, third = ((row[0] * x + row[1] * y + row[2]) * depth + row[3] for row in view_T_camera[:3])
    return first, second, third

"""A pinhole camera with its lens: images without distortion are made here."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.geometry import Intrinsics


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

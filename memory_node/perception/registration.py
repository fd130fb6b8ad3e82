"""Colour images seen as the depth camera sees: where two cameras differ in size, focal length or place."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from memory_node.domain.geometry import Intrinsics
from memory_node.perception.camera_model import Camera

# Where depth is unknown, the colour of what lies about as far as its surroundings.
_COARSE = 8


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

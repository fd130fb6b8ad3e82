"""Masks for detectors that give only rectangles: the surface that fills the middle of the rectangle."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray


def mask_in_box(
    depth_m: NDArray[np.float32], box_px: tuple[float, float, float, float], gap_m: float = 0.05
) -> NDArray[np.bool_]:
    """Return the mask (height, width) of what a rectangle (left, top, right, bottom) was drawn around.

    The pixels connected in depth (neighbours differ by less than `gap_m` per metre of distance) to the middle's
    nearest surface. Empty when the rectangle has no depth.
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

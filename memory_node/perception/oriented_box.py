"""Upright boxes around points, right for things that stand at any angle."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from memory_node.domain.geometry import OrientedBox


def fit_oriented_box(points: NDArray[np.floating], trim: float = 0.0) -> OrientedBox:
    """Return the upright box of least footprint around points (n, 3), z up, n >= 1.

    The yaw is that of the smallest rectangle around the footprint's convex hull (rotating calipers). `trim` is the
    share of the
    points that may lie beyond each face: depth noise would otherwise push every face outwards.
    """
    origin = points.mean(axis=0)
    local = points - origin
    yaw_rad = _footprint_yaw(local[:, :2])
    cos, sin = np.cos(yaw_rad), np.sin(yaw_rad)
    along = np.column_stack([cos * local[:, 0] + sin * local[:, 1], cos * local[:, 1] - sin * local[:, 0], local[:, 2]])
    rank = int(trim * (len(along) - 1))
    along = np.partition(along, (rank, len(along) - 1 - rank), axis=0)
    low, high = along[rank], along[len(along) - 1 - rank]
    middle = 0.5 * (low + high)
    center = origin + np.array([cos * middle[0] - sin * middle[1], sin * middle[0] + cos * middle[1], middle[2]])
    return OrientedBox(center, high - low, yaw_rad)


def _footprint_yaw(footprint: NDArray[np.floating]) -> float:
    """Return the direction of the longer side of the smallest rectangle around points (n, 2)."""
    if len(footprint) < 3:
        return 0.0
    (_, (width, height), angle_deg) = cv2.minAreaRect(footprint.astype(np.float32))
    yaw_rad = float(np.radians(angle_deg))
    if height > width:
        yaw_rad += 0.5 * np.pi
    return float((yaw_rad + 0.5 * np.pi) % np.pi - 0.5 * np.pi)

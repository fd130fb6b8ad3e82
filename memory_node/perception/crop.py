"""Pictures as JPEG: the small one of an object that memory keeps and shows, and whole ones."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from memory_node.perception.config import PerceptionConfig


def crop_jpeg(
    color: NDArray[np.uint8], columns: tuple[int, int], rows: tuple[int, int], config: PerceptionConfig
) -> bytes:
    """Return the rectangle (first and last column and row) of an RGB image (height, width, 3) as JPEG; empty when
    off."""
    if config.crop_max_px <= 0:
        return b""
    piece = color[rows[0] : rows[1] + 1, columns[0] : columns[1] + 1]
    return picture_jpeg(piece, config.crop_max_px, config.crop_quality)


def picture_jpeg(color: NDArray[np.uint8], max_px: int, quality: int) -> bytes:
    """Return an RGB image (height, width, 3) as JPEG of a quality from 1 to 100, its longer side at most `max_px`."""
    piece: NDArray[Any] = color
    longer = max(piece.shape[:2])
    if longer > max_px:
        scale = max_px / longer
        size = (max(1, round(piece.shape[1] * scale)), max(1, round(piece.shape[0] * scale)))
        piece = cv2.resize(piece, size, interpolation=cv2.INTER_AREA if scale > 0.4 else cv2.INTER_LINEAR)
    _, coded = cv2.imencode(".jpg", cv2.cvtColor(piece, cv2.COLOR_RGB2BGR), [cv2.IMWRITE_JPEG_QUALITY, quality])
    return bytes(coded.tobytes())

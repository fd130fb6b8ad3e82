"""The small picture of an object that memory keeps and shows."""

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
    piece: NDArray[Any] = color[rows[0] : rows[1] + 1, columns[0] : columns[1] + 1]
    longer = max(piece.shape[:2])
    if longer > config.crop_max_px:
        scale = config.crop_max_px / longer
        size = (max(1, round(piece.shape[1] * scale)), max(1, round(piece.shape[0] * scale)))
        piece = cv2.resize(piece, size, interpolation=cv2.INTER_AREA if scale > 0.4 else cv2.INTER_LINEAR)
    _, coded = cv2.imencode(
        ".jpg", cv2.cvtColor(piece, cv2.COLOR_RGB2BGR), [cv2.IMWRITE_JPEG_QUALITY, config.crop_quality]
    )
    return bytes(coded.tobytes())

"""Pictures as JPEG: the small one of an object that memory keeps and shows, and whole ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from memory_node.perception.config import PerceptionConfig


@dataclass(slots=True)
class Crop:
    """A rectangle (first and last column and row) of an RGB image (height, width, 3), coded as JPEG once it is asked
    for: most views of a thing are not kept. Nothing where pictures are off."""

    color: NDArray[np.uint8]
    columns: tuple[int, int]
    rows: tuple[int, int]
    config: PerceptionConfig
    jpeg: bytes = b""

    def __call__(self) -> bytes:
        """Return the JPEG, the same object each time."""
        if not self.jpeg and self.config.crop_max_px > 0:
            piece = self.color[self.rows[0] : self.rows[1] + 1, self.columns[0] : self.columns[1] + 1]
            self.jpeg = picture_jpeg(piece, self.config.crop_max_px, self.config.crop_quality)
        return self.jpeg


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

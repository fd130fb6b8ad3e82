"""What a detector's ONNX model takes for an image: its size, and colours fitted into it."""

from __future__ import annotations

import cv2
import numpy as np
import onnxruntime
from numpy.typing import NDArray

from memory_node.domain.errors import InvalidValueError


def image_size(session: onnxruntime.InferenceSession, fallback: int) -> tuple[int, int]:
    """Return height and width that a model's image input (1, 3, h, w) wants; `fallback` where it takes any."""
    shape = session.get_inputs()[0].shape
    if len(shape) != 4:
        raise InvalidValueError(f"expected an image input (1, 3, height, width), got {shape}")
    height, width = (side if isinstance(side, int) and side > 0 else fallback for side in shape[2:])
    return int(height), int(width)


def letterboxed(color: NDArray[np.uint8], height: int, width: int) -> tuple[NDArray[np.float32], float, float, float]:
    """Return an RGB image (h, w, 3) as (1, 3, height, width) in [0, 1], its scale, and the margins left and above.

    The sides' ratio is kept; gray fills the rest, as YOLO models are trained with.
    """
    scale = min(height / color.shape[0], width / color.shape[1])
    size = max(1, round(color.shape[1] * scale)), max(1, round(color.shape[0] * scale))
    left, top = (width - size[0]) // 2, (height - size[1]) // 2
    canvas = np.full((height, width, 3), 114, np.uint8)
    canvas[top : top + size[1], left : left + size[0]] = cv2.resize(color, size, interpolation=cv2.INTER_LINEAR)
    return np.ascontiguousarray(canvas.transpose(2, 0, 1)[None], dtype=np.float32) / 255.0, scale, left, top

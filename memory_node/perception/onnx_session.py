"""An ONNX model behind onnxruntime, opened from any path."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import onnxruntime
from numpy.typing import NDArray

from memory_node.domain.errors import InvalidValueError, ResourceMissingError


def open_session(path: Path, threads: int = 2) -> onnxruntime.InferenceSession:
    """Open a model on the CPU.

    Raises:
        ResourceMissingError: there is no such file.
        InvalidValueError: the file is no model that onnxruntime can run.
    """
    if not path.is_file():
        raise ResourceMissingError(f"{path}: no such ONNX model; give the path of an .onnx file")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's errors share no base class
        raise InvalidValueError(f"{path}: not an ONNX model that onnxruntime can run: {error}") from error


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

"""The bytes of an image message as an array, checked against what its header promises."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.errors import InputSkippedError

Buffer = bytes | bytearray | memoryview | NDArray[np.uint8]


def image_rows(
    data: Buffer, height: int, width: int, step: int, dtype: np.dtype[Any], channels: int, reason: str
) -> NDArray[Any]:
    """Return a view (height, width, channels) of `dtype` on row-padded image bytes.

    `step` is the length of one row in bytes, padding included (sensor_msgs/Image).

    Raises:
        InputSkippedError: the sizes contradict each other; counted under `reason`.
    """
    row_bytes = width * channels * dtype.itemsize
    if height <= 0 or width <= 0 or step < row_bytes:
        raise InputSkippedError(reason, f"{width}x{height}, {channels} channels of {dtype}, row step {step}")
    flat = np.frombuffer(data, dtype=np.uint8)
    if flat.size < (height - 1) * step + row_bytes:
        raise InputSkippedError(reason, f"expected {height} rows of {step} bytes, got {flat.size} bytes")
    if flat.size < height * step:  # the last row's padding is often left out
        flat = np.concatenate([flat, np.zeros(height * step - flat.size, np.uint8)])
    rows = flat[: height * step].reshape(height, step)[:, :row_bytes]
    return np.ascontiguousarray(rows).view(dtype).reshape(height, width, channels)

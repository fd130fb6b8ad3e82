"""Colour images as RGB from the encodings that ROS cameras publish."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.errors import InputSkippedError
from memory_node.perception.raw_image import Buffer, image_rows

# encoding -> (channels in memory, which of them are red, green, blue)
_ENCODINGS = {
    "rgb8": (3, [0, 1, 2]),
    "bgr8": (3, [2, 1, 0]),
    "rgba8": (4, [0, 1, 2]),
    "bgra8": (4, [2, 1, 0]),
    "mono8": (1, [0, 0, 0]),
}


def decode_color(data: Buffer, encoding: str, height: int, width: int, step: int) -> NDArray[np.uint8]:
    """Return the image (height, width, 3) as RGB, uint8.

    Raises:
        InputSkippedError: another encoding ("color_encoding") or sizes that do not fit ("color_size").
    """
    if encoding not in _ENCODINGS:
        raise InputSkippedError("color_encoding", f"expected {', '.join(_ENCODINGS)}, got {encoding[:40]!r}")
    channels, order = _ENCODINGS[encoding]
    pixels = image_rows(data, height, width, step, np.dtype(np.uint8), channels, "color_size")
    return pixels if channels == 3 and order[0] == 0 else np.ascontiguousarray(pixels[:, :, order])

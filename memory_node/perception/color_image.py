"""Colour images as RGB from the encodings that ROS cameras publish."""

from __future__ import annotations

import cv2
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
# encoding -> (channels in memory, OpenCV's conversion). ROS names the first four colours of a Bayer pattern row by row,
# OpenCV the second row's middle ones.
_CONVERTED = {
    "yuv422_yuy2": (2, cv2.COLOR_YUV2RGB_YUY2),
    "yuv422": (2, cv2.COLOR_YUV2RGB_UYVY),
    "bayer_rggb8": (1, cv2.COLOR_BayerBG2RGB),
    "bayer_bggr8": (1, cv2.COLOR_BayerRG2RGB),
    "bayer_gbrg8": (1, cv2.COLOR_BayerGR2RGB),
    "bayer_grbg8": (1, cv2.COLOR_BayerGB2RGB),
}


def decode_color(data: Buffer, encoding: str, height: int, width: int, step: int) -> NDArray[np.uint8]:
    """Return the image (height, width, 3) as RGB, uint8.

    Raises:
        InputSkippedError: another encoding ("color_encoding") or sizes that do not fit ("color_size").
    """
    if encoding in _CONVERTED:
        channels, conversion = _CONVERTED[encoding]
        raw = image_rows(data, height, width, step, np.dtype(np.uint8), channels, "color_size")
        if height % 2 or width % 2:
            raise InputSkippedError("color_size", f"{encoding}: expected even sides, got {width}x{height}")
        return np.asarray(cv2.cvtColor(raw, conversion), np.uint8)
    if encoding not in _ENCODINGS:
        known = ", ".join((*_ENCODINGS, *_CONVERTED))
        raise InputSkippedError("color_encoding", f"expected {known}, got {encoding[:40]!r}")
    channels, order = _ENCODINGS[encoding]
    pixels = image_rows(data, height, width, step, np.dtype(np.uint8), channels, "color_size")
    return pixels if channels == 3 and order[0] == 0 else np.ascontiguousarray(pixels[:, :, order])

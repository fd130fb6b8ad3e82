"""Colour images as RGB from the encodings that ROS cameras publish."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from memory_node.domain.errors import InputSkippedError
from memory_node.perception.raw_image import Buffer, image_rows

# encoding -> (channels in memory, OpenCV's conversion). ROS names the first four colours of a Bayer pattern row by row,
# OpenCV the second row's middle ones.
_ENCODINGS = {
    "rgb8": (3, None),
    "bgr8": (3, cv2.COLOR_BGR2RGB),
    "rgba8": (4, cv2.COLOR_RGBA2RGB),
    "bgra8": (4, cv2.COLOR_BGRA2RGB),
    "mono8": (1, cv2.COLOR_GRAY2RGB),
    "yuv422_yuy2": (2, cv2.COLOR_YUV2RGB_YUY2),
    "yuv422": (2, cv2.COLOR_YUV2RGB_UYVY),
    "bayer_rggb8": (1, cv2.COLOR_BayerBG2RGB),
    "bayer_bggr8": (1, cv2.COLOR_BayerRG2RGB),
    "bayer_gbrg8": (1, cv2.COLOR_BayerGR2RGB),
    "bayer_grbg8": (1, cv2.COLOR_BayerGB2RGB),
}
# Of these, neighbouring pixels share colours.
_PAIRED = ("yuv422", "bayer")


def decode_color(data: Buffer, encoding: str, height: int, width: int, step: int) -> NDArray[np.uint8]:
    """Return the image (height, width, 3) as RGB, uint8.

    Raises:
        InputSkippedError: another encoding ("color_encoding") or sizes that do not fit ("color_size").
    """
    if encoding not in _ENCODINGS:
        raise InputSkippedError("color_encoding", f"expected {', '.join(_ENCODINGS)}, got {encoding[:40]!r}")
    channels, conversion = _ENCODINGS[encoding]
    pixels = image_rows(data, height, width, step, np.dtype(np.uint8), channels, "color_size")
    if encoding.startswith(_PAIRED) and (height % 2 or width % 2):
        raise InputSkippedError("color_size", f"{encoding}: expected even sides, got {width}x{height}")
    return pixels if conversion is None else np.asarray(cv2.cvtColor(pixels, conversion), dtype=np.uint8)

"""Image messages as arrays: colour as RGB, depth in metres (REP-118), and the number of each pixel's instance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import cv2
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


# encoding -> (channels in memory, OpenCV's conversion). ROS names the first four colours of a Bayer pattern row by row,
# OpenCV the second row's middle ones.
_COLORS = {
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
    if encoding not in _COLORS:
        raise InputSkippedError("color_encoding", f"expected {', '.join(_COLORS)}, got {encoding[:40]!r}")
    channels, conversion = _COLORS[encoding]
    pixels = image_rows(data, height, width, step, np.dtype(np.uint8), channels, "color_size")
    if encoding.startswith(_PAIRED) and (height % 2 or width % 2):
        raise InputSkippedError("color_size", f"{encoding}: expected even sides, got {width}x{height}")
    return pixels if conversion is None else np.asarray(cv2.cvtColor(pixels, conversion), dtype=np.uint8)


_DEPTHS = {"16UC1": ("u2", 1e-3), "mono16": ("u2", 1e-3), "32FC1": ("f4", 1.0)}


def decode_depth(
    data: Buffer, encoding: str, height: int, width: int, step: int, big_endian: bool = False
) -> NDArray[np.float32]:
    """Return depth (height, width) in metres as float32; 0 or NaN is no return.

    16UC1 holds millimetres, 32FC1 metres (REP-118).

    Raises:
        InputSkippedError: another encoding ("depth_encoding") or sizes that do not fit ("depth_size").
    """
    if encoding not in _DEPTHS:
        raise InputSkippedError("depth_encoding", f"expected {', '.join(_DEPTHS)}, got {encoding[:40]!r}")
    code, scale = _DEPTHS[encoding]
    dtype = np.dtype((">" if big_endian else "<") + code)
    raw = image_rows(data, height, width, step, dtype, 1, "depth_size")[:, :, 0]
    depth_m = raw.astype(np.float32)
    if scale != 1.0:  # of whole numbers without a sign, which all are depths
        return depth_m * np.float32(scale)
    with np.errstate(invalid="ignore"):
        np.copyto(depth_m, np.float32(np.nan), where=~((depth_m >= 0.0) & (depth_m < np.inf)))
    return depth_m


LabelArray = NDArray[np.int32]
_LABELS = {"mono8": "u1", "8UC1": "u1", "mono16": "u2", "16UC1": "u2", "16SC1": "i2", "32SC1": "i4"}


def decode_labels(
    data: Buffer, encoding: str, height: int, width: int, step: int, big_endian: bool = False
) -> LabelArray:
    """Return the instance numbers (height, width) as int32; negative ones, which some detectors use for none, as 0.

    Raises:
        InputSkippedError: another encoding ("label_encoding") or sizes that do not fit ("label_size").
    """
    if encoding not in _LABELS:
        raise InputSkippedError("label_encoding", f"expected {', '.join(_LABELS)}, got {encoding[:40]!r}")
    dtype = np.dtype((">" if big_endian else "<") + _LABELS[encoding])
    labels = image_rows(data, height, width, step, dtype, 1, "label_size")[:, :, 0].astype(np.int32)
    return np.maximum(labels, 0) if dtype.kind == "i" else labels


def labels_from_masks(masks: Sequence[NDArray[np.bool_]], shape: tuple[int, int]) -> LabelArray:
    """Paint masks (height, width) into one instance image: mask i becomes number i + 1.

    Where masks overlap the smaller one wins: it is the nearer or more particular thing (a mug on a tray).

    Raises:
        InputSkippedError: a mask of another shape ("mask_size").
    """
    labels = np.zeros(shape, np.int32)
    for index in sorted(range(len(masks)), key=lambda i: -int(np.count_nonzero(masks[i]))):
        if masks[index].shape != shape:
            raise InputSkippedError("mask_size", f"expected {shape}, got {masks[index].shape}")
        np.copyto(labels, index + 1, where=masks[index])
    return labels

"""Images as arrays, from files or messages: colour as RGB, depth in metres (REP-118), the number of each instance."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from memory_node.domain.errors import InputSkippedError

_JPEG, _JPEG_END = b"\xff\xd8", b"\xff\xd9"
PNG, _PNG_END = b"\x89PNG", b"IEND"
# Writers may pad a file, so the end mark of a picture is looked for in this many last bytes.
_TAIL_BYTES = 1024


def decode_coded_color(data: bytes, what: str) -> NDArray[np.uint8]:
    """Return a coded 8-bit image as RGB (h, w, 3); what: names it in errors.

    Raises:
        InputSkippedError: cut short ("image_truncated"), no image ("image_undecodable"), 16 bits a colour
            ("color_encoding").
    """
    image = _decoded(data, what)
    if image.dtype != np.uint8:
        raise InputSkippedError("color_encoding", f"{what}: expected 8 bits a colour, got {image.dtype}")
    if image.ndim == 2:
        return np.asarray(cv2.cvtColor(image, cv2.COLOR_GRAY2RGB), dtype=np.uint8)
    code = cv2.COLOR_BGRA2RGB if image.shape[2] == 4 else cv2.COLOR_BGR2RGB
    return np.asarray(cv2.cvtColor(image, code), dtype=np.uint8)


def decode_coded_depth(data: bytes, what: str) -> NDArray[np.uint16]:
    """Return a coded depth image (h, w) in the units that it was written in, 16 bits a pixel.

    Raises:
        InputSkippedError: cut short ("image_truncated"), no image ("image_undecodable"), no 16-bit image of one channel
            ("depth_encoding").
    """
    image = _decoded(data, what)
    if image.dtype != np.uint16 or image.ndim != 2:
        raise InputSkippedError(
            "depth_encoding", f"{what}: expected one channel of uint16, got shape {image.shape} of {image.dtype}"
        )
    return image


def _decoded(data: bytes, what: str) -> NDArray[Any]:
    tail = data[-_TAIL_BYTES:]
    # Decoders fill what is missing of a picture that was cut short with grey, and say nothing.
    if (data.startswith(_JPEG) and _JPEG_END not in tail) or (data.startswith(PNG) and _PNG_END not in tail):
        raise InputSkippedError("image_truncated", f"{what}: cut short after {len(data)} bytes")
    try:
        image = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED) if data else None
    except cv2.error:  # sizes that no camera has
        image = None
    if image is None:
        raise InputSkippedError("image_undecodable", f"{what}: {len(data)} bytes that are no JPEG or PNG image")
    return np.asarray(image)


# int32 kind of coding, then the two parameters of 32FC1's quantisation, all little-endian.
_HEADER = struct.Struct("<iff")
_RVL_SIZE = struct.Struct("<ii")
_MOST_PIXELS = 100_000_000


def decode_compressed_depth(data: bytes, coding: str) -> NDArray[np.float32]:
    """Return depth (h, w) in metres, NaN where there is no return.

    coding: CompressedImage.format, such as "16UC1; compressedDepth png". 16UC1 and mono16 hold millimetres; 32FC1 is
    coded as inverse depth a / (depth + b).

    Raises:
        InputSkippedError: another coding ("depth_encoding"), data cut short ("image_truncated"), none
            ("image_undecodable").
    """
    encoding, _, transport = coding.partition(";")
    encoding, transport = encoding.strip(), transport.strip()
    if encoding not in ("16UC1", "mono16", "32FC1") or not transport.startswith("compressedDepth"):
        raise InputSkippedError(
            "depth_encoding", f'expected "16UC1; compressedDepth png" or the like, got {coding[:60]!r}'
        )
    if len(data) < _HEADER.size:
        raise InputSkippedError("image_truncated", f"compressed depth of {len(data)} bytes")
    has_header = not data.startswith(PNG)  # some drivers leave it out
    _, quantum_a, quantum_b = _HEADER.unpack_from(data) if has_header else (0, 0.0, 0.0)
    if encoding == "32FC1" and not quantum_a > 0.0:
        told = f"parameters {quantum_a:g} and {quantum_b:g}" if has_header else "no header"
        raise InputSkippedError("depth_encoding", f"32FC1 as compressed depth with {told}: its depth cannot be known")
    body = data[_HEADER.size :] if has_header else data
    raw = decode_rvl(body) if transport.endswith("rvl") else decode_coded_depth(body, "compressed depth")
    depth = raw.astype(np.float32)
    if encoding != "32FC1":
        depth *= np.float32(1e-3)
    else:
        with np.errstate(divide="ignore", invalid="ignore"):
            depth = np.float32(quantum_a) / (depth - np.float32(quantum_b))
    depth[(raw == 0) | ~np.isfinite(depth) | (depth < 0.0)] = np.nan
    return depth


def decode_rvl(body: bytes) -> NDArray[np.uint16]:
    """Return a depth image (h, w) coded by RVL (Wilson 2017, "Fast Lossless Depth Image Compression").

    Runs of zeros and of values alternate; a value is its difference from the value before it, zigzag-coded. Every
    number is a chain of nibbles of three bits, lowest first, each with a bit that says whether another one follows.

    Raises:
        InputSkippedError: cut short, or sizes that cannot be.
    """
    if len(body) < _RVL_SIZE.size:
        raise InputSkippedError("image_truncated", f"RVL depth of {len(body)} bytes")
    width, height = _RVL_SIZE.unpack_from(body)
    if width <= 0 or height <= 0 or width * height > _MOST_PIXELS:
        raise InputSkippedError("image_undecodable", f"RVL depth of {width}x{height} pixels")
    numbers = _rvl_numbers(body[_RVL_SIZE.size :])
    values = np.zeros(width * height, np.int64)
    filled: list[NDArray[np.int64]] = []
    places: list[NDArray[np.intp]] = []
    at = pixel = 0
    while pixel < len(values):
        if at + 1 >= len(numbers):
            raise InputSkippedError("image_truncated", f"RVL depth ends after {pixel} of {len(values)} pixels")
        zeros, count = int(numbers[at]), int(numbers[at + 1])
        at, pixel = at + 2, pixel + zeros
        if pixel + count > len(values) or at + count > len(numbers) or zeros + count == 0:
            raise InputSkippedError("image_truncated", f"RVL depth ends after {pixel} of {len(values)} pixels")
        filled.append(numbers[at : at + count])
        places.append(np.arange(pixel, pixel + count))
        at, pixel = at + count, pixel + count
    if filled:
        zigzag = np.concatenate(filled)
        values[np.concatenate(places)] = np.cumsum((zigzag >> 1) ^ -(zigzag & 1))
    return (values & 0xFFFF).astype(np.uint16).reshape(height, width)


def _rvl_numbers(coded: bytes) -> NDArray[np.int64]:
    words = np.frombuffer(coded[: len(coded) // 4 * 4], "<u4")
    shifts = np.arange(28, -4, -4, dtype=np.uint32)
    nibbles = ((words[:, None] >> shifts) & 0xF).ravel().astype(np.int64)
    last = np.flatnonzero(nibbles < 8)
    if not last.size:
        return np.zeros(0, np.int64)
    nibbles = nibbles[: last[-1] + 1]
    first = np.concatenate([[0], last[:-1] + 1])
    place = np.arange(len(nibbles)) - np.repeat(first, last - first + 1)
    return np.add.reduceat((nibbles & 7) << (3 * np.minimum(place, 20)), first)


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

"""Depth images as the ROS plugin compressed_depth_image_transport codes them: PNG or RVL after a 12-byte header."""

from __future__ import annotations

import struct

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.errors import InputSkippedError
from memory_node.perception.coded_image import PNG, decode_coded_depth

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

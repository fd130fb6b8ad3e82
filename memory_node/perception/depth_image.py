"""Depth images in metres from the encodings that ROS cameras publish (REP-118)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.errors import InputSkippedError
from memory_node.perception.raw_image import Buffer, image_rows

_ENCODINGS = {"16UC1": ("u2", 1e-3), "mono16": ("u2", 1e-3), "32FC1": ("f4", 1.0)}


def decode_depth(
    data: Buffer, encoding: str, height: int, width: int, step: int, big_endian: bool = False
) -> NDArray[np.float32]:
    """Return depth (height, width) in metres as float32; 0 or NaN is no return.

    16UC1 holds millimetres, 32FC1 metres (REP-118).

    Raises:
        InputSkippedError: another encoding ("depth_encoding") or sizes that do not fit ("depth_size").
    """
    if encoding not in _ENCODINGS:
        raise InputSkippedError("depth_encoding", f"expected {', '.join(_ENCODINGS)}, got {encoding[:40]!r}")
    code, scale = _ENCODINGS[encoding]
    dtype = np.dtype((">" if big_endian else "<") + code)
    raw = image_rows(data, height, width, step, dtype, 1, "depth_size")[:, :, 0]
    depth_m = raw.astype(np.float32)
    if scale != 1.0:
        depth_m *= np.float32(scale)
    depth_m[~np.isfinite(depth_m) | (depth_m < 0.0)] = np.nan
    return depth_m

"""The clean 3D points of every instance of a frame: pixels past an object's edge and lone returns are left out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.geometry import Intrinsics
from memory_node.perception.config import PerceptionConfig


@dataclass(frozen=True, eq=False)
class InstancePoints:
    """One instance: its number, its points (n, 3) in the camera's optical frame, and its pixels at full resolution."""

    label: int
    points: NDArray[np.float64]
    pixels: int
    columns: tuple[int, int]
    rows: tuple[int, int]


def instance_points(
    labels: NDArray[np.integer], depth_m: NDArray[np.float32], intrinsics: Intrinsics, config: PerceptionConfig
) -> list[InstancePoints]:
    """Return the points of each instance (0 is none) of images (height, width), ordered by instance number.

    columns and rows are the first and last pixel of the mask; instances with too few pixels or returns are left out.
    """
    stride = config.pixel_stride
    small = labels[::stride, ::stride]
    flat = np.flatnonzero(small)
    number = small.ravel()[flat]
    # numpy sorts 16-bit keys by radix, several times faster
    key = number.astype(np.uint16) if number.size and number.max() < 65536 else number
    order = np.argsort(key, kind="stable")
    flat, number = flat[order], number[order]
    depth = depth_m[::stride, ::stride].ravel()[flat]
    rows, columns = np.divmod(flat, small.shape[1])
    rows, columns = rows * stride, columns * stride
    x = (columns - intrinsics.cx) * depth / intrinsics.fx
    y = (rows - intrinsics.cy) * depth / intrinsics.fy
    points = np.stack([x, y, depth], axis=1).astype(np.float64)
    with np.errstate(invalid="ignore"):
        valid = (depth > config.min_depth_m) & (depth < config.max_depth_m)
    starts = np.flatnonzero(np.diff(number, prepend=-1))
    ends = np.append(starts[1:], len(number))
    found = []
    for start, end in zip(starts.tolist(), ends.tolist()):
        pixels = (end - start) * stride * stride
        if pixels < config.min_pixels:
            continue
        kept = clean_points(points[start:end][valid[start:end]], config)
        if len(kept) < config.min_points:
            continue
        span = columns[start:end]
        found.append(
            InstancePoints(
                int(number[start]),
                kept,
                pixels,
                (int(span.min()), int(span.max())),
                (int(rows[start]), int(rows[end - 1])),
            )
        )
    return found


def clean_points(points: NDArray[np.float64], config: PerceptionConfig) -> NDArray[np.float64]:
    """Return points (n, 3) of the optical frame less outliers, at most one per voxel.

    Along the ray a mask may hold its object, background past the edge, and mixed pixels between: the largest run
    without a gap is kept. Then voxels that hold a single point where others hold many are dropped as lone returns.
    """
    if len(points) < config.min_points:
        return points[:0]
    points = _largest_depth_run(points, config.depth_gap_m)
    voxel_m = max(config.voxel_m, 0.5 * config.voxel_m * float(points[0, 2]))
    cell = np.floor(points / voxel_m).astype(np.int64)
    cell -= cell.min(axis=0)
    span = cell.max(axis=0) + 1
    key = (cell[:, 0] * span[1] + cell[:, 1]) * span[2] + cell[:, 2]
    _, first, count = np.unique(key, return_index=True, return_counts=True)
    if len(points) > 4 * len(first):
        first = first[count > 1]
    return points[first]


def _largest_depth_run(points: NDArray[np.float64], gap_at_1m: float) -> NDArray[np.float64]:
    order = np.argsort(points[:, 2])
    depth = points[order, 2]
    gap_m = gap_at_1m * np.maximum(1.0, depth[1:])
    breaks = np.flatnonzero(np.diff(depth) > gap_m) + 1
    if not breaks.size:
        return points
    bounds = np.concatenate([[0], breaks, [len(depth)]])
    longest = int(np.argmax(np.diff(bounds)))
    return points[order[bounds[longest] : bounds[longest + 1]]]

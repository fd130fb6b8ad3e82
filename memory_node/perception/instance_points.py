"""The clean 3D points of every instance of a frame: pixels past an object's edge and lone returns are left out."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from memory_node.domain.geometry import Intrinsics
from memory_node.perception.config import PerceptionConfig

_LARGE_PIXELS = 20_000
_SHARE_OF_SMALL, _SHARE_OF_LARGE = 0.3, 0.05
# Step back in depth at a mask's upper edge: so many times the step of the row below, and deviations of the noise.
_RIM_STEEPER, _RIM_SIGMAS = 2.0, 4.0


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
    Large instances are sampled.
    """
    found = []
    for label, window in instance_windows(labels, config.pixel_stride):
        rows, columns = window
        mask = np.zeros((rows.stop - rows.start + 2, columns.stop - columns.start + 2), bool)
        np.equal(labels[window], label, out=mask[1:-1, 1:-1])
        pixels = int(np.count_nonzero(mask))
        if pixels < config.min_pixels:
            continue
        step = max(1, round((pixels / config.most_points) ** 0.5))
        camera = (columns.start - intrinsics.cx, rows.start - intrinsics.cy, intrinsics.fx, intrinsics.fy)
        kept = clean_points(_points_in(mask, depth_m[window], camera, step, config), pixels, config)
        if len(kept) >= config.min_points:
            ends = (columns.start, columns.stop - 1), (rows.start, rows.stop - 1)
            found.append(InstancePoints(label, kept, pixels, *ends))
    return found


def instance_windows(labels: NDArray[np.integer], stride: int) -> list[tuple[int, tuple[slice, slice]]]:
    """Return number and bounding window (rows, columns) of each instance of an image (height, width), by number.

    Found on every `stride`-th pixel and widened by as much.
    """
    small = np.ascontiguousarray(labels[::stride, ::stride])
    highest = int(small.max()) if small.size else 0
    if highest > 4 * small.size:  # sparse numbers, such as hashes: count them through
        numbers, compact = np.unique(small, return_inverse=True)
        small, names = compact.reshape(small.shape), numbers.tolist()
        if names[0] != 0:
            small, names = small + 1, [0, *names]
    else:
        names = list(range(highest + 1))
    height, width = labels.shape
    found = []
    for index, box in enumerate(ndimage.find_objects(small.astype(np.int32, copy=False)), start=1):
        if box is not None:
            rows, columns = (
                slice(max(0, side.start * stride - stride + 1), min(most, (side.stop - 1) * stride + stride))
                for side, most in zip(box, (height, width))
            )
            found.append((int(names[index]), (rows, columns)))
    return found


def _points_in(
    mask: NDArray[np.bool_],
    depth_m: NDArray[np.float32],
    camera: tuple[float, float, float, float],
    step: int,
    config: PerceptionConfig,
) -> NDArray[np.float64]:
    """Return the points (n, 3) of a mask in its window; camera: column and row of the window less the centre, focal
    lengths.

    Masks are often a pixel too large. At the foot and the sides that pixel shows the support, at the object's own
    depth, so it is left out. Past the upper edge it shows what lies behind: `_behind_rim` removes the support behind a
    low thing, `clean_points` what is far behind.
    """
    whole = mask[1:-1:step, 1:-1:step]
    inner = whole & mask[2::step, 1:-1:step][: len(whole)]
    inner &= mask[1:-1:step, :-2:step]
    inner &= mask[1:-1:step, 2::step]
    if step == 1:
        inner &= ~_behind_rim(mask, depth_m, config)
    chosen = inner if 3 * np.count_nonzero(inner) > np.count_nonzero(whole) else whole
    depth = depth_m[::step, ::step]
    with np.errstate(invalid="ignore"):
        rows, columns = np.nonzero(chosen & (depth > config.min_depth_m) & (depth < config.max_depth_m))
    left, top, fx, fy = camera
    points = np.empty((len(rows), 3))
    z = depth[rows, columns].astype(np.float64)
    points[:, 0] = (columns * step + left) * z / fx
    points[:, 1] = (rows * step + top) * z / fy
    points[:, 2] = z
    return points


def _behind_rim(mask: NDArray[np.bool_], depth_m: NDArray[np.float32], config: PerceptionConfig) -> NDArray[np.bool_]:
    """Return which pixels (height, width) of a mask's upper edge show what is behind: the depth steps back there by
    much more than along the two rows below, which a top that goes on does not do.

    mask: with a rim of one pixel around the window.
    """
    behind = np.zeros(depth_m.shape, bool)
    if len(depth_m) < 3:
        return behind
    outer = mask[1:-3, 1:-1] & ~mask[:-4, 1:-1] & mask[2:-2, 1:-1] & mask[3:-1, 1:-1]
    rows, columns = outer.nonzero()
    edge, below, lower = (depth_m[rows + down, columns] for down in range(3))
    with np.errstate(invalid="ignore"):
        noise_m = config.depth_sigma_m_at_1m * below**2
        behind[rows, columns] = edge - below > _RIM_STEEPER * np.maximum(below - lower, 0.0) + _RIM_SIGMAS * noise_m
    return behind


def clean_points(points: NDArray[np.float64], pixels: int, config: PerceptionConfig) -> NDArray[np.float64]:
    """Return points (n, 3) of the optical frame less outliers, at most one per voxel where there are many.

    pixels: size of the mask. Along the ray a mask may hold its object, background past the upper edge, and mixed pixels
    between. Of the runs without a gap the nearest that holds a good share of a small mask is kept; of a large one,
    which other things may well divide into runs, all but the short ones.
    """
    if len(points) < config.min_points:
        return points[:0]
    points = _main_runs(points, pixels >= _LARGE_PIXELS, config)
    if len(points) <= config.voxel_points:
        return points
    voxel_m = max(config.voxel_m, 0.5 * config.voxel_m * float(points[0, 2]))
    cell = np.floor(points * (1.0 / voxel_m)).astype(np.int64)
    # Hashing the cells (Teschner et al. 2003) spares finding their range; a collision costs one point.
    key = cell[:, 0] * 73856093 ^ cell[:, 1] * 19349663 ^ cell[:, 2] * 83492791
    # Sorted with the point's number in the low bits: argsort picks another point of a voxel on another machine.
    bits = len(key).bit_length()
    order = np.sort(key << bits | np.arange(len(key))) & ((1 << bits) - 1)
    ordered = key[order]
    begins = np.ones(len(key), bool)
    np.not_equal(ordered[1:], ordered[:-1], out=begins[1:])
    first = begins.nonzero()[0]
    if len(points) > 4 * len(first):
        first = first[np.diff(first, append=len(points)) > 1]
    return points[order[first]]


def _main_runs(points: NDArray[np.float64], large: bool, config: PerceptionConfig) -> NDArray[np.float64]:
    depth = points[:, 2]
    ordered = np.sort(depth)
    nearer, farther = ordered[:-1], ordered[1:]
    gap_m = config.depth_gap_m + 3.0 * config.depth_sigma_m_at_1m * farther**2
    breaks = (farther - nearer > gap_m).nonzero()[0] + 1
    if not breaks.size:
        return points
    ends = [0, *breaks.tolist(), len(depth)]
    lengths = [end - start for start, end in pairwise(ends)]
    least = (_SHARE_OF_LARGE if large else _SHARE_OF_SMALL) * len(depth)
    good = [index for index, length in enumerate(lengths) if length >= least] or [lengths.index(max(lengths))]
    if large:
        return points[np.isin(np.searchsorted(ordered[breaks], depth, side="right"), good)]
    return points[(depth >= ordered[ends[good[0]]]) & (depth <= ordered[ends[good[0] + 1] - 1])]

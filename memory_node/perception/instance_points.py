"""The clean 3D points of every instance of a frame, and upright boxes around points."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from memory_node.domain.geometry import Intrinsics, OrientedBox
from memory_node.perception.config import PerceptionConfig

# A table with an entry for each number up to this one is small.
_MOST_INSTANCES = 100_000
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
    """Return the points of each instance (0 is none) of images (height, width), ordered by instance number; for
    numbers see `counted_through`.

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
        with np.errstate(invalid="ignore"):  # NaN is no return
            points = _points_in(mask, depth_m[window], camera, step, config)
        kept = clean_points(points, pixels, config)
        if len(kept) >= config.min_points:
            ends = (columns.start, columns.stop - 1), (rows.start, rows.stop - 1)
            found.append(InstancePoints(label, kept, pixels, *ends))
    return found


def counted_through(labels: NDArray[np.integer]) -> tuple[NDArray[np.integer], list[int] | None]:
    """Return an instance image (height, width; 0 is none) of few numbers, and which number of the given one each
    stands for; None where each stands for itself. A segmenter may number by hashes, and tables by number would fill the
    memory.
    """
    if not labels.size or int(labels.max()) <= _MOST_INSTANCES:
        return labels, None
    numbers, dense = np.unique(np.append(labels.ravel(), 0), return_inverse=True)
    return dense[:-1].reshape(labels.shape).astype(np.int32), numbers.tolist()


def instance_windows(labels: NDArray[np.integer], stride: int) -> list[tuple[int, tuple[slice, slice]]]:
    """Return number and bounding window (rows, columns) of each instance of an image (height, width), by number.

    Found on every `stride`-th pixel and widened by as much.
    """
    small = np.ascontiguousarray(labels[::stride, ::stride], dtype=np.int32)
    height, width = labels.shape
    found = []
    for number, box in enumerate(ndimage.find_objects(small), start=1):
        if box is not None:
            rows, columns = (
                slice(max(0, side.start * stride - stride + 1), min(most, (side.stop - 1) * stride + stride))
                for side, most in zip(box, (height, width))
            )
            found.append((number, (rows, columns)))
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
    depth = np.ascontiguousarray(depth_m[::step, ::step])
    chosen = chosen & (depth > config.min_depth_m)
    chosen &= depth < config.max_depth_m
    at = chosen.ravel().nonzero()[0]
    rows, columns = np.divmod(at, depth.shape[1])
    left, top, fx, fy = camera
    points = np.empty((3, len(at)))
    x, y, z = points
    z[:] = depth.ravel()[at]
    np.multiply(columns * (step / fx) + left / fx, z, out=x)
    np.multiply(rows * (step / fy) + top / fy, z, out=y)
    return points.T


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
    return points.T.take(order[first], axis=1).T


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
        chosen = np.isin(np.searchsorted(ordered[breaks], depth, side="right"), good)
    else:
        chosen = (depth >= ordered[ends[good[0]]]) & (depth <= ordered[ends[good[0] + 1] - 1])
    return points.T.compress(chosen, axis=1).T


_Float = TypeVar("_Float", np.float32, np.float64)
# Values of a column that are sampled for its quantiles.
_ENOUGH = 1500


def value_at(values: NDArray[_Float], share: float) -> NDArray[_Float]:
    """Return of each column of values (n, ...) the one that `share` of the others lie below; n >= 1."""
    some = values[:: max(1, len(values) // _ENOUGH)]
    rank = round(share * (len(some) - 1))
    return np.partition(some, rank, axis=0)[rank]


Values = NDArray[np.float64]
_LARGE_M = 0.5
_EDGE_SAMPLE = 250
_EDGE_ANGLES = np.radians(np.arange(0.0, 90.0, 3.0))
_EDGE_M = 0.02
_MOST_BEYOND_M = 0.02


def fit_oriented_box(
    points: NDArray[np.floating], trim: float = 0.0, eye: NDArray[np.floating] | None = None, focal_px: float = 500.0
) -> OrientedBox:
    """Return the upright box of least footprint around points (n, 3), z up, n >= 1.

    The yaw is that of the smallest rectangle around the footprint's convex hull (rotating calipers); of large things,
    of which a camera often sees only a part, that of the sides that most points lie on (Zhang et al. 2017, L-shape
    fitting). `trim` is
    the share of the points that may lie beyond each face: depth noise would otherwise push every face outwards. With
    the camera's place `eye` (3,) the far sides reach half a pixel's ray beyond the last return, see `_beyond`.
    """
    x, y, z = (np.ascontiguousarray(points[:, axis], dtype=np.float64) for axis in range(3))
    origin_x, origin_y = float(x[0]), float(y[0])
    x, y = x - origin_x, y - origin_y
    yaw_rad = _footprint_yaw(x, y)
    cos, sin = math.cos(yaw_rad), math.sin(yaw_rad)
    along = np.empty((3, len(x)))
    along[0], along[1], along[2] = cos * x + sin * y, cos * y - sin * x, z
    (low_u, low_v, low_z), (high_u, high_v, high_z) = _ends(along, int(trim * (len(x) - 1)))
    if eye is not None:
        local_x, local_y = float(eye[0]) - origin_x, float(eye[1]) - origin_y
        from_u, from_v = cos * local_x + sin * local_y, cos * local_y - sin * local_x
        ray = 0.5 * (low_u + high_u) - from_u, 0.5 * (low_v + high_v) - from_v
        beyond_u, beyond_v = _beyond(ray, float(eye[2]) - high_z, focal_px)
        low_u, high_u = min(low_u, low_u + beyond_u), max(high_u, high_u + beyond_u)
        low_v, high_v = min(low_v, low_v + beyond_v), max(high_v, high_v + beyond_v)
    u, v = 0.5 * (low_u + high_u), 0.5 * (low_v + high_v)
    center = np.array([origin_x + cos * u - sin * v, origin_y + sin * u + cos * v, 0.5 * (low_z + high_z)])
    return OrientedBox(center, np.array([high_u - low_u, high_v - low_v, high_z - low_z]), yaw_rad)


def _ends(values: Values, rank: int) -> tuple[list[float], list[float]]:
    """Return of each row of values (k, n) the ones of `rank` from below and from above."""
    if rank == 0:
        return values.min(axis=1).tolist(), values.max(axis=1).tolist()
    values.sort(axis=1)  # quicker than a partition by two ranks, up to some thousand points
    return values[:, rank].tolist(), values[:, -1 - rank].tolist()


def _beyond(ray: tuple[float, float], drop_m: float, focal_px: float) -> tuple[float, float]:
    """Return how far the far sides extend beyond the last returns, along the ray (u, v) on the ground. A camera
    `drop_m` above the top sees it in few rows, some centimetres apart; the true edge lies between the last row on the
    top and the next row. At edges many returns are lost, too.
    """
    level = math.hypot(*ray)
    distance = math.hypot(level, drop_m)
    if level < 1e-6 or drop_m < 0.03 * distance:
        return 0.0, 0.0
    length = min(_MOST_BEYOND_M, 0.75 * distance**2 / focal_px / drop_m) / level
    return ray[0] * length, ray[1] * length


def _footprint_yaw(x: Values, y: Values) -> float:
    """Return the direction of the longer side of the footprint of points, in [-pi/2, pi/2)."""
    if len(x) < 3:
        return 0.0
    ground = np.empty((len(x), 2), np.float32)
    ground[:, 0], ground[:, 1] = x, y
    (_, (width, height), angle_deg) = cv2.minAreaRect(ground)
    yaw_rad = math.radians(angle_deg)
    if max(width, height) > _LARGE_M:
        yaw_rad, width, height = _edge_yaw(x, y, yaw_rad)
    return (yaw_rad + (0.5 * math.pi if height > width else 0.0) + 0.5 * math.pi) % math.pi - 0.5 * math.pi


def _edge_yaw(x: Values, y: Values, guess_rad: float) -> tuple[float, float, float]:
    """Return the yaw, `guess_rad` or one on a grid of 3 degrees, along whose box sides points lie closest, and both
    sides."""
    every = max(1, len(x) // _EDGE_SAMPLE)
    angles = np.append(_EDGE_ANGLES, guess_rad)
    cos, sin = np.cos(angles), np.sin(angles)
    # Where the points lie along the sides of a box at each angle, then across: (2 * angles, points).
    sides = np.stack([np.append(cos, -sin), np.append(sin, cos)], axis=1) @ np.stack([x[::every], y[::every]])
    low, high = sides.min(axis=1), sides.max(axis=1)
    gap = np.minimum(sides - low[:, None], high[:, None] - sides)
    gap = np.minimum(gap[: len(angles)], gap[len(angles) :])
    best = int(np.argmax((1.0 / np.maximum(gap, _EDGE_M)).sum(axis=1)))
    width, height = (high - low).reshape(2, -1)[:, best].tolist()
    return float(angles[best]), width, height

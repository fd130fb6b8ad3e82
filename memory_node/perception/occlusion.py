"""Which instances are seen only in part: cut by the image border, or with something nearer in front of their
outline."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memory_node.perception.config import PerceptionConfig
from memory_node.perception.instance_points import InstancePoints


def partly_hidden(labels: NDArray[np.integer], depth_m: NDArray[np.float32], config: PerceptionConfig) -> set[int]:
    """Return the instances of an image (height, width) that something hides a part of.

    Hidden is an outline, or the foot alone, across which the neighbour is nearer, and an upper edge against another
    thing that is not farther: what stands on a table hides where the table ends. What is on both sides, behind and
    before, carries the thing: behind a flat thing it is hardly farther.
    """
    stride = config.pixel_stride
    width = len(labels[0, ::stride])
    number, depth = labels[::stride, ::stride].ravel(), depth_m[::stride, ::stride].ravel()
    count = int(number.max()) + 1
    across = np.flatnonzero(number[:-1] != number[1:])
    left, right, z_left, z_right = _sides(number, depth, across[(across + 1) % width != 0], 1)
    upper, lower, z_upper, z_lower = _sides(number, depth, np.flatnonzero(number[:-width] != number[width:]), width)
    with np.errstate(invalid="ignore"):
        hidden = [
            left[z_right < z_left - _margin(z_left, config)],
            right[z_left < z_right - _margin(z_right, config)],
            lower[z_upper < z_lower - _margin(z_lower, config)],
            # Below an object the support gets nearer with every row, faster in a flat view.
            upper[z_lower < z_upper - config.occlusion_margin_m * np.maximum(1.0, z_upper)],
        ]
        is_covered = (upper > 0) & (z_upper < z_lower + _margin(z_lower, config))
    covered = lower[is_covered & ~_is_on(lower, upper, upper, lower, count)]
    outline = _counts([left, right, upper, lower], count)
    share = _counts(hidden, count) / np.maximum(outline, 1)
    top_share = _counts([covered], count) / np.maximum(_counts([lower], count), 1)
    foot_share = _counts(hidden[3:], count) / np.maximum(_counts([upper], count), 1)
    found = (share > config.occluded_share) | (np.maximum(top_share, foot_share) > config.covered_share)
    return set(np.flatnonzero(found).tolist()) - {0}


def touches_border(instance: InstancePoints, shape: tuple[int, int], config: PerceptionConfig) -> bool:
    """Return whether the mask reaches the border of an image (height, width)."""
    border = config.border_px + config.pixel_stride - 1
    height, width = shape
    return bool(
        instance.columns[0] < border
        or instance.rows[0] < border
        or instance.columns[1] >= width - border
        or instance.rows[1] >= height - border
    )


def _sides(
    number: NDArray[np.integer], depth: NDArray[np.float32], edges: NDArray[np.intp], apart: int
) -> tuple[NDArray[np.integer], NDArray[np.integer], NDArray[np.float32], NDArray[np.float32]]:
    """Return the numbers and the depths on both sides of outlines: of flat pixels (n,) and those `apart` behind."""
    return number[edges], number[edges + apart], depth[edges], depth[edges + apart]


def _is_on(
    thing: NDArray[np.integer],
    behind: NDArray[np.integer],
    above: NDArray[np.integer],
    below: NDArray[np.integer],
    count: int,
) -> NDArray[np.bool_]:
    """Return for pairs (n,) of a thing and what is behind it whether the same is before most of the thing's foot, too.

    above, below: what is on both sides of every edge (m,) that is crossed downwards. count: of instances.
    """
    pairs, often = np.unique(above.astype(np.int64) * count + below, return_counts=True)
    foot = np.bincount(above, minlength=count)
    ground = pairs[often > 0.5 * foot[pairs // count]]
    return np.isin(thing.astype(np.int64) * count + behind, ground)


def _margin(depth: NDArray[np.float32], config: PerceptionConfig) -> NDArray[np.floating]:
    """Return by how much a neighbour must be nearer than a depth to hide it: half the configured margin, and noise."""
    return 0.5 * config.occlusion_margin_m + 3.0 * config.depth_sigma_m_at_1m * depth**2


def _counts(numbers: list[NDArray[np.integer]], count: int) -> NDArray[np.intp]:
    return np.bincount(np.concatenate(numbers), minlength=count)

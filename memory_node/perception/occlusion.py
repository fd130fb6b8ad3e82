"""Which instances are seen only in part: cut by the image border, or with something nearer in front of their
outline."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memory_node.perception.config import PerceptionConfig
from memory_node.perception.instance_points import InstancePoints


def occluded_share(
    labels: NDArray[np.integer], depth_m: NDArray[np.float32], config: PerceptionConfig
) -> dict[int, float]:
    """Return for each instance the share of its outline across which the neighbour is nearer, in [0, 1]."""
    stride = config.pixel_stride
    number = labels[::stride, ::stride]
    depth = depth_m[::stride, ::stride]
    nearer: list[NDArray[np.integer]] = []
    outline: list[NDArray[np.integer]] = []
    for axis in (0, 1):
        one, other = (number[:-1], number[1:]) if axis == 0 else (number[:, :-1], number[:, 1:])
        z_one, z_other = (depth[:-1], depth[1:]) if axis == 0 else (depth[:, :-1], depth[:, 1:])
        edge = np.nonzero(one != other)
        a, b, z_a, z_b = one[edge], other[edge], z_one[edge], z_other[edge]
        with np.errstate(invalid="ignore"):
            margin = config.occlusion_margin_m * np.maximum(1.0, z_a)
            nearer += [a[z_b < z_a - margin], b[z_a < z_b - margin]]
        outline += [a, b]
    total = np.bincount(np.concatenate(outline))
    hidden = np.bincount(np.concatenate(nearer), minlength=len(total))
    return {int(i): float(hidden[i] / total[i]) for i in np.flatnonzero(total) if i > 0}


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

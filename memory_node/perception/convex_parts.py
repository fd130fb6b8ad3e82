"""Splits a surface where it is torn or concave: what remains in one piece is one object (Stein et al. 2014, LCCP).

Solid things are mostly convex, and where two of them touch the surface is concave.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from memory_node.perception.surface import Surface

LabelArray = NDArray[np.int32]
_DIRECTIONS = ((0, 1), (1, 0), (1, 1), (1, -1))


def concavity(surface: Surface, mask: NDArray[np.bool_], reach: int) -> NDArray[np.float32]:
    """Return for pixels (h, w) how concave the surface is there, in [0, 2]: the sine-like change of the normals
    across `reach` pixels to both sides, in the worst of four directions; 0 where it is flat, convex or not in the
    mask."""
    worst = np.zeros(mask.shape, np.float32)
    for down, right in _DIRECTIONS:
        one, other = (
            _shifted(surface.points, down * reach, right * reach),
            _shifted(surface.points, -down * reach, -right * reach),
        )
        normal_one = _shifted(surface.normals, down * reach, right * reach)
        normal_other = _shifted(surface.normals, -down * reach, -right * reach)
        both = _shifted(mask, down * reach, right * reach) & _shifted(mask, -down * reach, -right * reach) & mask
        apart = one - other
        with np.errstate(invalid="ignore", divide="ignore"):
            bend = ((normal_other - normal_one) * apart).sum(axis=-1) / np.linalg.norm(apart, axis=-1)
        worst = np.where(both & np.isfinite(bend), np.maximum(worst, bend), worst)
    return worst.astype(np.float32)


def convex_parts(
    surface: Surface, mask: NDArray[np.bool_], limit: float = 0.5, reach: int = 5, min_seed: int = 25
) -> LabelArray:
    """Return part numbers (h, w) of the masked surface, 0 elsewhere.

    limit: change of the normals that separates (0.5 is about 30 degrees). min_seed: the least pixels a part grows from.
    """
    bend = concavity(surface, mask, reach)
    inside = mask & ~surface.torn & (bend < limit)
    core = cv2.erode(inside.astype(np.uint8), np.ones((3, 3), np.uint8))
    _, seeds = cv2.connectedComponents(core, connectivity=4)
    sizes = np.bincount(seeds.ravel())
    sizes[0] = 0
    keep = np.zeros(len(sizes), np.int32)
    kept = np.flatnonzero(sizes >= min_seed)
    keep[kept] = np.arange(1, len(kept) + 1)
    return grow(keep[seeds], mask, surface)


def grow(seeds: LabelArray, mask: NDArray[np.bool_], surface: Surface, most_px: int = 12) -> LabelArray:
    """Let numbered seeds grow through the mask to their nearest pixels, not over jumps in depth, at most `most_px`."""
    labels = seeds.astype(np.int32)
    depth = np.where(surface.valid, surface.points[..., 2], np.float32(np.nan))
    for _ in range(most_px):
        open_pixels = mask & (labels == 0)
        if not open_pixels.any():
            break
        for down, right in ((0, 1), (0, -1), (1, 0), (-1, 0)):
            near = _shifted(labels, down, right)
            with np.errstate(invalid="ignore"):
                joined = np.abs(_shifted(depth, down, right) - depth) < 0.02 * np.maximum(1.0, depth)
            take = open_pixels & (near > 0) & joined & (labels == 0)
            labels[take] = near[take]
    return labels


def neighbours(labels: LabelArray, surface: Surface, reach: int = 2) -> dict[tuple[int, int], tuple[int, float]]:
    """Return for parts that touch (smaller number first) how many pixel pairs touch and the mean step in depth from
    the first to the second, in metres."""
    pairs: dict[tuple[int, int], tuple[int, float]] = {}
    depth = surface.points[..., 2]
    width = int(labels.max()) + 1
    for down, right in ((0, reach), (reach, 0)):
        other, other_depth = _shifted(labels, down, right), _shifted(depth, down, right)
        touch = (labels > 0) & (other > 0) & (labels != other)
        a, b = labels[touch], other[touch]
        step = (other_depth - depth)[touch]
        step = np.where(a < b, step, -step)
        code = np.minimum(a, b).astype(np.int64) * width + np.maximum(a, b)
        listed, which = np.unique(code, return_inverse=True)
        count = np.bincount(which)
        total = np.bincount(which, np.nan_to_num(step))
        for key, number, sum_ in zip(listed.tolist(), count.tolist(), total.tolist()):
            ends = (key // width, key % width)
            before, mean = pairs.get(ends, (0, 0.0))
            pairs[ends] = (before + number, (mean * before + sum_) / (before + number))
    return pairs


def _shifted(image: NDArray, down: int, right: int) -> NDArray:
    """Return the image whose pixel (r, c) shows what is at (r + down, c + right), zero beyond the border."""
    moved = np.zeros_like(image)
    height, width = image.shape[:2]
    rows = slice(max(0, -down), height - max(0, down)), slice(max(0, down), height - max(0, -down))
    columns = slice(max(0, -right), width - max(0, right)), slice(max(0, right), width - max(0, -right))
    moved[rows[0], columns[0]] = image[rows[1], columns[1]]
    return moved

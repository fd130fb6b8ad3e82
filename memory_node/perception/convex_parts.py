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
        here, one, other = _around(mask.shape, down * reach, right * reach)
        rows, columns = np.nonzero(mask[here] & mask[one] & mask[other])
        apart = surface.points[one][rows, columns] - surface.points[other][rows, columns]
        turned = surface.normals[other][rows, columns] - surface.normals[one][rows, columns]
        with np.errstate(invalid="ignore", divide="ignore"):
            bend = np.einsum("ij,ij->i", turned, apart) / np.sqrt(np.einsum("ij,ij->i", apart, apart))
        inner = worst[here]
        inner[rows, columns] = np.fmax(inner[rows, columns], np.where(np.isfinite(bend), bend, np.float32(0.0)))
    return worst


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
    depth = np.where(surface.valid, surface.points[..., 2], np.float32(np.nan)).ravel()
    height, width = labels.shape
    flat = labels.ravel()
    left = np.flatnonzero(mask.ravel() & (flat == 0))
    steps = ((0, 1), (0, -1), (1, 0), (-1, 0))
    for _ in range(most_px):
        if not left.size:
            break
        row, column = np.divmod(left, width)
        for down, right in steps:
            inside = (row + down >= 0) & (row + down < height) & (column + right >= 0) & (column + right < width)
            at = left[inside & (flat[left] == 0)]
            near = at + down * width + right
            with np.errstate(invalid="ignore"):
                joined = np.abs(depth[near] - depth[at]) < 0.02 * np.maximum(1.0, depth[at])
            take = joined & (flat[near] > 0)
            flat[at[take]] = flat[near[take]]
        left = left[flat[left] == 0]
    return flat.reshape(labels.shape)


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


def part_pixels(labels: LabelArray) -> dict[int, NDArray[np.intp]]:
    """Return the pixels of each part, as places in the flattened image, in their order; by part number."""
    at = np.flatnonzero(labels)
    numbers = labels.ravel()[at]
    order = np.argsort(numbers, kind="stable")
    listed, first = np.unique(numbers[order], return_index=True)
    return dict(zip(listed.tolist(), np.split(at[order], first[1:])))


def _around(
    shape: tuple[int, ...], down: int, right: int
) -> tuple[tuple[slice, slice], tuple[slice, slice], tuple[slice, slice]]:
    """Return the windows of the pixels that have neighbours at (down, right) on both sides, and of these neighbours."""
    rows, columns = abs(down), abs(right)
    windows = []
    for sign in (0, 1, -1):
        top, left = rows + sign * down, columns + sign * right
        windows.append((slice(top, shape[0] - 2 * rows + top), slice(left, shape[1] - 2 * columns + left)))
    return windows[0], windows[1], windows[2]


def _shifted(image: NDArray, down: int, right: int) -> NDArray:
    """Return the image whose pixel (r, c) shows what is at (r + down, c + right), zero beyond the border."""
    moved = np.zeros_like(image)
    height, width = image.shape[:2]
    rows = slice(max(0, -down), height - max(0, down)), slice(max(0, down), height - max(0, -down))
    columns = slice(max(0, -right), width - max(0, right)), slice(max(0, right), width - max(0, -right))
    moved[rows[0], columns[0]] = image[rows[1], columns[1]]
    return moved

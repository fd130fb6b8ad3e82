"""Splits a surface where it has a gap or is concave; each remaining piece is one object (Stein et al. 2014, LCCP).

Solid things are mostly convex, and where two of them touch the surface is concave.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from memory_node.perception.instance_points import value_at
from memory_node.perception.surface import Plane, Surface

LabelArray = NDArray[np.int32]
_DIRECTIONS = ((0, 1), (1, 0), (1, 1), (1, -1))


def concavity(surface: Surface, mask: NDArray[np.bool_], reach: int) -> NDArray[np.float32]:
    """Return for pixels (h, w) how concave the surface is there, in [0, 2]: the sine-like change of the normals
    across `reach` pixels to both sides, in the worst of four directions; 0 where it is flat, convex or not in the
    mask."""
    worst = np.zeros(mask.size, np.float32)
    points, normals = surface.points.reshape(-1, 3), surface.normals.reshape(-1, 3)
    for down, right in _DIRECTIONS:
        here, one, other = _around(mask.shape, down * reach, right * reach)
        between = np.zeros(mask.shape, bool)
        between[here] = mask[here] & mask[one] & mask[other]
        at = np.flatnonzero(between)
        step = reach * (down * mask.shape[1] + right)
        ahead, back = at + step, at - step
        apart = points.take(ahead, axis=0) - points.take(back, axis=0)
        turned = normals.take(back, axis=0) - normals.take(ahead, axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            bend = np.einsum("ij,ij->i", turned, apart) / np.sqrt(np.einsum("ij,ij->i", apart, apart))
        worst[at] = np.fmax(worst[at], np.where(np.isfinite(bend), bend, np.float32(0.0)))
    return worst.reshape(mask.shape)


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
    height, width = seeds.shape
    # A border of nothing, so that every pixel has four neighbours.
    flat = cv2.copyMakeBorder(seeds.astype(np.int32), 1, 1, 1, 1, cv2.BORDER_CONSTANT, value=0).ravel()
    depth = np.full((height + 2, width + 2), np.nan, np.float32)
    np.copyto(depth[1:-1, 1:-1], surface.points[..., 2], where=surface.valid)
    depth = depth.ravel()
    left = np.flatnonzero(cv2.copyMakeBorder(mask.astype(np.uint8), 1, 1, 1, 1, cv2.BORDER_CONSTANT, value=0))
    left = left[flat[left] == 0]
    steps = (1, -1, width + 2, -width - 2)
    joined = [_same_surface(depth, left, step) for step in steps]
    for _ in range(most_px):
        if not left.size:
            break
        for step, same in zip(steps, joined):
            near = flat[left + step]
            at = np.flatnonzero(same & (near > 0) & (flat[left] == 0))
            flat[left[at]] = near[at]
        still = flat[left] == 0
        left, joined = left[still], [same[still] for same in joined]
    return np.ascontiguousarray(flat.reshape(height + 2, width + 2)[1:-1, 1:-1])


def _same_surface(depth: NDArray[np.float32], at: NDArray[np.intp], step: int) -> NDArray[np.bool_]:
    """Return whether the depth (n,) at pixels goes on without a jump to the pixels `step` places on."""
    here = depth[at]
    with np.errstate(invalid="ignore"):
        return np.asarray(np.abs(depth[at + step] - here) < 0.02 * np.maximum(1.0, here))


def neighbours(labels: LabelArray, surface: Surface, reach: int = 2) -> dict[tuple[int, int], tuple[int, float]]:
    """Return for parts that touch (smaller number first) how many pixel pairs touch and the mean step in depth from
    the first to the second, in metres."""
    pairs: dict[tuple[int, int], tuple[int, float]] = {}
    numbers, depth = labels.ravel(), surface.points[..., 2].ravel()
    columns = labels.shape[1]
    width = int(labels.max()) + 1
    for down, right in ((0, reach), (reach, 0)):
        other = labels[down:, right:]
        one = labels[: other.shape[0], : other.shape[1]]
        rows, across = np.divmod(np.flatnonzero((one != other) & (one > 0) & (other > 0)), max(1, other.shape[1]))
        at = rows * columns + across
        beyond = at + down * columns + right
        a, b = numbers[at], numbers[beyond]
        step = depth[beyond] - depth[at]
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
        high, wide = max(0, shape[0] - 2 * rows), max(0, shape[1] - 2 * columns)
        windows.append((slice(top, top + high), slice(left, left + wide)))
    return windows[0], windows[1], windows[2]


_SLIVER_SHARE = 0.12
_SLIVER_PIXELS = 180


def rejoin_parts(labels: LabelArray, surface: Surface, planes: list[Plane]) -> LabelArray:
    """Return the labels (h, w) with pieces of one object under one number."""
    labels = _join_slivers(labels, surface)
    if planes:
        labels = _join_insides(labels, surface, planes[0])
    return _join_across_occluders(labels, surface)


def _join_slivers(labels: LabelArray, surface: Surface) -> LabelArray:
    """Give small pieces to the larger neighbour that they touch along the smallest step in depth."""
    for _ in range(3):
        sizes = np.bincount(labels.ravel())
        target: dict[int, tuple[float, int]] = {}
        for (a, b), (count, step) in neighbours(labels, surface).items():
            small, large = (a, b) if sizes[a] < sizes[b] else (b, a)
            sliver = sizes[small] < _SLIVER_PIXELS and sizes[small] < _SLIVER_SHARE * sizes[large]
            if sliver and abs(step) < 0.03 and count >= 4:
                target[small] = min(target.get(small, (np.inf, 0)), (abs(step), large))
        if not target:
            break
        change = np.arange(len(sizes), dtype=np.int32)
        for small, (_, large) in target.items():
            change[small] = large if large not in target else small
        labels = change[labels]
    return labels


def _join_insides(labels: LabelArray, surface: Surface, support: Plane) -> LabelArray:
    """Join the inner wall of a mug or bowl to itself and to its outside.

    An inner wall curves around the camera's side: its normals converge, those of every solid thing diverge. Where it
    meets what lies before it, level with its rim, the two are one vessel.
    """
    height = support.height(surface.points)
    pixels = part_pixels(labels)
    tops = {n: float(value_at(height.ravel()[at], 0.97)) for n, at in pixels.items()}
    hollow = {n: _converges(surface, at) for n, at in pixels.items()}
    change = np.arange(int(labels.max()) + 1, dtype=np.int32)
    for (a, b), (count, step) in sorted(neighbours(labels, surface, reach=4).items()):
        front, back = (a, b) if step > 0.0 else (b, a)
        level = tops[back] - tops[front] < 0.02
        one_wall = hollow[front] and hollow[back] and abs(step) < 0.02
        if count >= 6 and hollow[back] and level and (one_wall or not hollow[front]):
            change[change == change[back]] = change[front]
    return change[labels]


def _converges(surface: Surface, pixels: NDArray[np.intp]) -> bool:
    """Return whether the normals of a piece converge from side to side, as those of a hollow do; pixels (n,) of the
    flattened image."""
    across = surface.points.reshape(-1, 3)[pixels, 0]
    lean = surface.normals.reshape(-1, 3)[pixels, 0]
    across, lean = across - across.mean(), lean - lean.mean()
    spread_across, spread_lean = float(across @ across), float(lean @ lean)
    if spread_lean < 0.1**2 * len(lean) or spread_across == 0.0:
        return False
    return bool(float(across @ lean) < -0.35 * (spread_across * spread_lean) ** 0.5)


def _join_across_occluders(labels: LabelArray, surface: Surface) -> LabelArray:
    """Join two pieces on both sides of a nearer one whose surfaces lie in one plane."""
    behind: dict[int, list[int]] = {}
    for (a, b), (count, step) in neighbours(labels, surface, reach=6).items():
        if count >= 8 and abs(step) > 0.015:
            front, back = (a, b) if step > 0.0 else (b, a)
            behind.setdefault(front, []).append(back)
    change = np.arange(int(labels.max()) + 1, dtype=np.int32)
    pixels = part_pixels(labels)
    for front, backs in behind.items():
        for i, one in enumerate(backs):
            for other in backs[i + 1 :]:
                if (
                    change[one] != change[other]
                    and _one_plane(surface, pixels[one], pixels[other])
                    and _hidden_between(labels, one, other, front)
                ):
                    change[change == change[other]] = change[one]
    return change[labels]


def _one_plane(surface: Surface, one: NDArray[np.intp], other: NDArray[np.intp]) -> bool:
    """Return whether the main face of either piece, given by its pixels, goes on in the other."""
    return _goes_on(surface, one, other) and _goes_on(surface, other, one)


def _goes_on(surface: Surface, one: NDArray[np.intp], other: NDArray[np.intp]) -> bool:
    all_points, all_normals = surface.points.reshape(-1, 3), surface.normals.reshape(-1, 3)
    points, normals = all_points[one], all_normals[one]
    # The main face: the normal that most other normals of the piece agree with.
    tried = normals[:: max(1, len(normals) // 24)]
    main = tried[int(np.argmax((tried @ normals.T > 0.97).sum(axis=1)))]
    face = normals @ main > 0.96
    main = normals[face].mean(axis=0)
    offset = float(np.median(points[face] @ main))
    there, there_normals = all_points[other], all_normals[other]
    on = (np.abs(there @ main - offset) < 0.012) & (there_normals @ main > 0.93)
    return bool(on.mean() > 0.35)


def _hidden_between(labels: LabelArray, one: int, other: int, front: int) -> bool:
    """Return whether the straight way between the middles of two pieces runs over nothing but them and the one in
    front."""
    start, end = np.argwhere(labels == one).mean(axis=0), np.argwhere(labels == other).mean(axis=0)
    steps = np.linspace(start, end, 64).astype(int)
    crossed = labels[steps[:, 0], steps[:, 1]]
    covered = np.isin(crossed, (one, other, front))
    return bool((crossed == front).any() and covered.mean() > 0.8)

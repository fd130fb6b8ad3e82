"""Rejoins pieces of one object: slivers, the inside of a vessel, and parts that a nearer thing divides."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memory_node.perception.convex_parts import LabelArray, neighbours, part_pixels
from memory_node.perception.ranks import value_at
from memory_node.perception.support_planes import Plane
from memory_node.perception.surface import Surface

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

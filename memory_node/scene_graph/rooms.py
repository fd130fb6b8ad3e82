"""Rooms: the free space split where it narrows to a doorway."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from memory_node.scene_graph.areas import border_lengths

LabelArray = NDArray[np.intp]


def split_into_rooms(free: NDArray[np.bool_], resolution_m: float, doorway_m: float, min_room_m2: float) -> LabelArray:
    """Return the room number (h, w) of each free cell, -1 elsewhere.

    Free space is shrunk until openings up to `doorway_m` close; what remains in one piece is a room's core, and every
    free cell joins the core that it reaches first. Parts below `min_room_m2`, and parts that meet along more than a
    doorway, are joined.
    """
    clearance = ndimage.distance_transform_edt(np.pad(free, 1))[1:-1, 1:-1] * resolution_m
    cores, count = ndimage.label(clearance > 0.5 * doorway_m)
    if count == 0:
        parts, _ = ndimage.label(free)
        return np.asarray(parts - 1, dtype=np.intp)
    labels = _grow(cores.astype(np.intp) - 1, free)
    return _join(labels, resolution_m, doorway_m, min_room_m2)


def _grow(labels: LabelArray, free: NDArray[np.bool_]) -> LabelArray:
    """Let all cores grow by one cell at a time through free space until nothing more is reached."""
    labels = labels.copy()
    for _ in range(sum(labels.shape)):
        padded = np.pad(labels, 1, constant_values=-1)
        around = np.max([padded[:-2, 1:-1], padded[2:, 1:-1], padded[1:-1, :-2], padded[1:-1, 2:]], axis=0)
        reached = free & (labels < 0) & (around >= 0)
        if not reached.any():
            break
        labels[reached] = around[reached]
    left, _ = ndimage.label(free & (labels < 0))
    return np.asarray(np.where(left > 0, left + labels.max(), labels), dtype=np.intp)


def _join(labels: LabelArray, resolution_m: float, doorway_m: float, min_room_m2: float) -> LabelArray:
    for _ in range(int(labels.max()) + 1):
        sizes = np.bincount(labels[labels >= 0]) * resolution_m**2
        choice: tuple[float, int, int] | None = None
        for (a, b), length in sorted(border_lengths(labels).items()):
            wide = length * resolution_m > 1.3 * doorway_m
            small = min(sizes[a], sizes[b]) < min_room_m2
            if (wide or small) and (choice is None or length > choice[0]):
                choice = (length, a, b)
        if choice is None:
            break
        _, a, b = choice
        labels = np.where(labels == max(a, b), min(a, b), labels)
    kept = np.unique(labels[labels >= 0])
    compact = np.full(int(labels.max()) + 2, -1, np.intp)
    compact[kept] = np.arange(len(kept))
    return compact[labels]

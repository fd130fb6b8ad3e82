"""Where a thing fits: free spots on and in receptacles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from memory_node.domain.geometry import FloatArray, OrientedBox
from memory_node.sim.thing import ObjectType, Thing

RIM_M = 0.015
STEP_M = 0.04
# A dish can hold a small heap; furniture cannot, unless its size is only estimated.
HEAP_LIMIT = 8
FIXTURE_HEAP_LIMIT = 40
OVERHANG = 1.6
# Shelves at this height are filled first (m); another height costs as much as this distance.
HANDY_HEIGHT_M = 0.9
LEVEL_COST_M = 0.2
# Boxes that are this near (m) touch.
_TOUCHES_M = 0.005


@dataclass(frozen=True, eq=False)
class Spot:
    """A place for a thing: its centre (3,) in the map frame and its yaw."""

    center: FloatArray
    yaw_rad: float


def size_in(thing: Thing, receptacle: Thing | None) -> FloatArray:
    """Return the sides (3,) of a thing as it lies in or on a receptacle, None for the floor: it stands, and what is too
    tall for a drawer is laid down there."""
    upright = np.array(thing.type.size_m)
    if not np.allclose(np.sort(upright), np.sort(thing.box.size)):
        upright = thing.box.size
    if receptacle is None or not receptacle.kind.slides or upright[2] <= receptacle.box.size[2]:
        return upright
    return np.sort(upright)[[1, 2, 0]]


def fits(thing: Thing, receptacle: Thing) -> bool:
    """Return whether the thing is small enough for the receptacle at all."""
    size = size_in(thing, receptacle)
    if receptacle.kind.slides and size[2] > receptacle.box.size[2]:
        return False
    if receptacle.fixed and receptacle.heaps:
        return True
    small, large = sorted(float(side) for side in size[:2])
    opening_small, opening_large = sorted(float(side) for side in receptacle.box.size[:2])
    if receptacle.kind.holds == "on":
        return small <= OVERHANG * opening_small
    if not receptacle.fixed:
        # Into a mug or a bowl things go upright, so that the two smaller of three sides count.
        small, large = sorted(float(side) for side in size)[:2]
    return small <= opening_small + 1e-6 and large <= opening_large * (1.05 if receptacle.fixed else 1.3)


def free_spot(thing: Thing, receptacle: Thing, others: Sequence[Thing], near: FloatArray | None = None) -> Spot | None:
    """Return the free spot closest to `near` (x, y) (by default the receptacle's middle), or None when it is full.

    others: what already stands there.
    """
    box = receptacle.box
    yaw = box.yaw_rad
    to_map = np.array([[np.cos(yaw), -np.sin(yaw)], [np.sin(yaw), np.cos(yaw)]])
    size = size_in(thing, receptacle)
    half = 0.5 * size[:2]
    wanted = np.zeros(2) if near is None else box.local(np.asarray(near)[:2])
    grid = _candidates(0.5 * np.array(box.size[:2]) - RIM_M - half)
    taken = [(*_footprint_in(other.box, box), other.box.bottom_m, other.box.top_m) for other in others]
    height = float(size[2])
    best: tuple[float, FloatArray] | None = None
    for rank, level in enumerate(_levels(receptacle, height)):
        free = np.ones(len(grid), dtype=bool)
        for center, other_half, bottom, top in taken:
            if bottom < level + height and top > level - 0.01:
                free &= (np.abs(grid - center) >= half + other_half).any(axis=1)
        if free.any():
            distance = np.linalg.norm(grid - wanted, axis=1) + LEVEL_COST_M * rank
            index = int(np.argmin(np.where(free, distance, np.inf)))
            if best is None or distance[index] < best[0]:
                best = (
                    float(distance[index]),
                    np.append(grid[index] @ to_map.T + box.center[:2], level + 0.5 * height),
                )
    if best is not None:
        return Spot(best[1], yaw)
    return _on_the_heap(thing, receptacle, others)


def place_around(box: OrientedBox, thing_type: ObjectType, count: int) -> Iterator[FloatArray]:
    """Yield the centres (3,) of `count` pieces of a class that lie in a row where `box` was."""
    gap = max(thing_type.size_m[1] * 1.2, 0.025)
    sideways = np.array([-np.sin(box.yaw_rad), np.cos(box.yaw_rad), 0.0])
    for number in range(count):
        offset = (number - 0.5 * (count - 1)) * gap * sideways
        yield np.array([*box.center[:2], box.bottom_m + 0.5 * thing_type.size_m[2]]) + offset


def _levels(receptacle: Thing, height_m: float) -> list[float]:
    heights = sorted(receptacle.surface_heights_m)
    if receptacle.kind.holds == "on" or not receptacle.fixed or len(heights) == 1:
        return heights
    ceilings = [*heights[1:], receptacle.box.top_m]
    roomy = [low for low, high in zip(heights, ceilings, strict=True) if height_m <= high - low]
    return sorted(roomy, key=lambda level: abs(level - HANDY_HEIGHT_M))


def _candidates(half_range: FloatArray) -> FloatArray:
    axes = []
    for reach in np.maximum(half_range, 0.0):
        steps = int(reach // STEP_M)
        axes.append(np.arange(-steps, steps + 1) * STEP_M)
    return np.array(np.meshgrid(*axes)).reshape(2, -1).T


def _footprint_in(other: OrientedBox, box: OrientedBox) -> tuple[FloatArray, FloatArray]:
    """Return another box's centre (2,) and half extent (2,) in a box's own axes, seen from above."""
    local = box.local(other.footprint())
    low, high = local.min(axis=0), local.max(axis=0)
    return 0.5 * (low + high), 0.5 * (high - low) - _TOUCHES_M


def is_above(box: OrientedBox, other: OrientedBox) -> bool:
    """Return whether a box would fall on another."""
    center, half = _footprint_in(other, box)
    return bool((np.abs(center) < half + 0.5 * box.size[:2]).all()) and other.top_m <= box.bottom_m + _TOUCHES_M


def stands_on(box: OrientedBox, other: OrientedBox) -> bool:
    """Return whether a box touches another's top."""
    return is_above(box, other) and box.bottom_m <= other.top_m + _TOUCHES_M


def lies_in(thing: Thing, dish: Thing) -> bool:
    """Return whether a thing lies in or on a movable receptacle, by their boxes."""
    foot_m = np.append(thing.box.center[:2], thing.box.bottom_m - _TOUCHES_M)
    return dish.kind.is_receptacle and fits(thing, dish) and bool(dish.box.contains(foot_m[None]).all())


def _on_the_heap(thing: Thing, receptacle: Thing, others: Sequence[Thing]) -> Spot | None:
    if receptacle.fixed and not receptacle.heaps:
        return None
    if len(others) >= (FIXTURE_HEAP_LIMIT if receptacle.fixed else HEAP_LIMIT):
        return None
    size, middle = size_in(thing, receptacle), receptacle.box.center[:2]
    lowest_m = receptacle.surface_heights_m[0]
    over_all_m = max((other.box.top_m for other in others), default=lowest_m)
    box = OrientedBox(np.array([*middle, over_all_m + 0.5 * float(size[2])]), size, receptacle.box.yaw_rad)
    foot_m = max((other.box.top_m for other in others if is_above(box, other.box)), default=lowest_m)
    return Spot(np.array([*middle, foot_m + 0.5 * float(size[2])]), receptacle.box.yaw_rad)

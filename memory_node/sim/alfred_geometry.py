"""Reconstructs what ALFRED's files leave out: boxes of fixtures from their reference points, and supports of
objects."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from memory_node.catalogue.object_kind import Property
from memory_node.domain.geometry import FloatArray, OrientedBox, Pose
from memory_node.sim.object_types import ObjectType
from memory_node.sim.placement import fits
from memory_node.sim.thing import Thing
from memory_node.sim.visibility import horizontal_distance

# Where AI2-THOR puts a class's reference point; the others stand on the floor with theirs at their foot.
TOP_AT_REFERENCE = frozenset({"CounterTop", "Shelf", "SinkBasin", "BathtubBasin", "StoveBurner"})
MIDDLE_AT_REFERENCE = frozenset(
    {"Cabinet", "Drawer", "ToiletPaperHanger", "TowelHolder", "HandTowelHolder", "Faucet", "ShowerHead"}
)
FOOT_AT_REFERENCE = frozenset({"Microwave", "CoffeeMachine", "DeskLamp", "Safe", "Toaster", "Television"})
# Tables whose reference point is not at the floor have it in their top.
ON_FLOOR_BELOW_M = 0.3
MIDDLE_ABOVE_CABINET_FLOOR_M = 0.36
# ALFRED lists fixtures that its agent used, from a given pose or some reachable point: at most this far away (m).
USED_WITHIN_M = 1.3
# Costs, in metres, of a receptacle that an object lies outside of.
FREE_MISS_M = 0.6
LOWER_SHELF_COST_M = 0.15
# The thickness of a board (m).
_BOARD_M = 0.02
# Middles of two doors of a class that are this near (m) are the handles of a double door.
_DOUBLE_DOOR_M = 0.12
# Neighbours may share a wall of this thickness (m), and stand at this angle (its cosine) to each other.
_SHARED_WALL_M, _PARALLEL = 0.02, 0.95
# So far (m) a fixture is made longer for what stands at its edge.
_REACH_OUT_M = 0.6
# The length of work surfaces is unknown, so lying beyond their end costs less.
LONG_SURFACES = {"CounterTop": 0.25, "Shelf": 0.6, "Desk": 0.6, "DiningTable": 0.6}
RISE_WEIGHT = 2.0
LEVEL_TOLERANCE_M = 0.06
DRAWER_SLACK_M = 0.01


def nearest_point(reachable: FloatArray, position: FloatArray) -> FloatArray:
    """Return the point of (n, 2) that is closest to a position, seen from above."""
    return np.asarray(reachable[int(np.argmin(np.linalg.norm(reachable - position[:2], axis=1)))])


def front_yaw(position: FloatArray, stand: Pose | None, reachable: FloatArray) -> float:
    """Return the direction (rad) that a fixture's front looks to: at who uses it, else at the closest free floor."""
    if stand is not None:
        return stand.yaw_rad + np.pi
    nearest = nearest_point(reachable, position) - position[:2]
    quarter = 0.5 * np.pi
    return float(np.round(np.arctan2(nearest[1], nearest[0]) / quarter) * quarter)


def fixture_box(thing_type: ObjectType, position: FloatArray, yaw_rad: float, user: FloatArray) -> OrientedBox:
    """Return a box of the class's ordinary size at the reference point, near enough to be used from `user` (x, y)."""
    size = np.array(thing_type.size_m)
    bottom, top = _heights(thing_type, float(position[2]))
    size[2] = top - bottom
    box = OrientedBox(np.array([position[0], position[1], 0.5 * (bottom + top)]), size, yaw_rad)
    excess = horizontal_distance(box, user) - USED_WITHIN_M
    if excess > 0.0:
        size[:2] += 2.0 * excess
        box = OrientedBox(box.center, size, yaw_rad)
    return box


def part_neighbours(fixtures: Sequence[Thing]) -> None:
    """Let fixtures of one class share no space: their sizes are only usual ones.

    The handles of a double door meet in the middle, so its two cabinets lie to both sides of them. Others in a row or
    above each other are as narrow as their neighbour leaves room.
    """
    pairs = [two for two in itertools.combinations(fixtures, 2) if two[0].kind is two[1].kind]
    for part in (_open_double_door, _narrow):
        overlapping = [(one, other) for one, other in pairs if _overlap(one.box, other.box)]
        for one, other in overlapping:
            if _overlap(one.box, other.box):
                part(one, other)


def _overlap(box: OrientedBox, other: OrientedBox) -> bool:
    if abs(np.cos(box.yaw_rad - other.yaw_rad)) < _PARALLEL:
        return False
    apart = np.abs(box.local(other.center))
    return bool((apart < 0.5 * (box.size + other.size) - _SHARED_WALL_M).all())


def _row_axis(apart: FloatArray) -> int:
    """Return the axis along which two lie beside (1) or above (2) each other: that in which their middles differ most.

    apart: the middle of the one along the axes of the other, (3,), m.
    """
    return 1 if abs(apart[1]) >= abs(apart[2]) else 2


def _open_double_door(one: Thing, other: Thing) -> None:
    """Move two with one middle to both sides of it."""
    apart = one.box.local(other.box.center)
    axis = _row_axis(apart)
    if abs(apart[axis]) < _DOUBLE_DOOR_M:
        _draw_apart(one, other, axis, 0.5 * _shared_m(one, other, axis), 0.0)


def _narrow(one: Thing, other: Thing) -> None:
    """Let each of two that overlap have half of what they share."""
    axis = _row_axis(one.box.local(other.box.center))
    less_m = min(0.5 * _shared_m(one, other, axis), 0.5 * float(min(one.box.size[axis], other.box.size[axis])))
    _draw_apart(one, other, axis, 0.5 * less_m, less_m)


def _shared_m(one: Thing, other: Thing, axis: int) -> float:
    """Return how far two reach into each other along an axis of the first, m."""
    apart_m = abs(float(one.box.local(other.box.center)[axis]))
    return 0.5 * float(one.box.size[axis] + other.box.size[axis]) - apart_m


def _draw_apart(one: Thing, other: Thing, axis: int, by_m: float, less_m: float) -> None:
    """Move two away from each other along an axis of the first, each by so much, and make both shorter along it."""
    toward = 1.0 if one.box.local(other.box.center)[axis] >= 0.0 else -1.0
    # Of two that look at each other, the axes along the floor point opposite ways.
    is_flipped = axis != 2 and np.cos(one.box.yaw_rad - other.box.yaw_rad) < 0.0
    one.box = _shifted(one.box, axis, -toward * by_m, less_m)
    other.box = _shifted(other.box, axis, (-toward if is_flipped else toward) * by_m, less_m)


def _shifted(box: OrientedBox, axis: int, by_m: float, less_m: float) -> OrientedBox:
    """Return a box moved along one of its own axes, and shorter along it."""
    size = np.array(box.size)
    size[axis] -= less_m
    along = np.zeros(3)
    along[axis] = by_m
    cos, sin = np.cos(box.yaw_rad), np.sin(box.yaw_rad)
    offset = np.array([cos * along[0] - sin * along[1], sin * along[0] + cos * along[1], along[2]])
    return OrientedBox(box.center + offset, size, box.yaw_rad)


def reach_contents(fixtures: Sequence[Thing], objects: Sequence[Thing]) -> None:
    """Let each fixture reach to what stands on or in it: ALFRED tells where that is, and no sizes of furniture."""
    by_id = {fixture.id: fixture for fixture in fixtures}
    for thing in objects:
        fixture = by_id.get(thing.parent_id)
        if fixture is None:
            continue
        middle = fixture.box.local(thing.box.center)
        for axis in (0, 1):
            needed_m = abs(float(middle[axis])) + 0.5 * float(thing.box.size[:2].max()) - 0.5 * fixture.box.size[axis]
            if 0.0 < needed_m <= _REACH_OUT_M:
                toward = 1.0 if middle[axis] > 0.0 else -1.0
                fixture.box = _shifted(fixture.box, axis, 0.5 * toward * needed_m, -needed_m)


def receptacle_of(thing: Thing, fixtures: Sequence[Thing]) -> Thing | None:
    """Return the fixture that an object stands on or in by where it is, or None for the floor."""
    costs = [(_cost(thing, fixture), number) for number, fixture in enumerate(fixtures) if _may_hold(fixture, thing)]
    cost, number = min(costs, default=(np.inf, -1))
    return fixtures[number] if cost < FREE_MISS_M else None


def settle_surfaces(fixtures: Sequence[Thing], objects: Sequence[Thing]) -> None:
    """Take the height of every surface from what stands on it, where something does; a flat top is raised or lowered
    to it, so that what stands there touches it."""
    for fixture in fixtures:
        feet = [thing.box.bottom_m for thing in objects if thing.parent_id == fixture.id]
        top = fixture.box.top_m
        if fixture.kind.holds == "on" and feet:
            near = [foot for foot in feet if abs(foot - top) < 0.25] or feet
            fixture.contents_z_m = (float(np.median(near)),)
            if max(fixture.kind.levels, default=1.0) == 1.0 and near is not feet:
                fixture.box = _with_top(fixture.box, fixture.contents_z_m[0])


def _with_top(box: OrientedBox, top_m: float) -> OrientedBox:
    """Return a box that ends at a height; what is left of it is as thick as a board at least."""
    height = max(top_m - box.bottom_m, _BOARD_M)
    center = np.array([*box.center[:2], top_m - 0.5 * height])
    return OrientedBox(center, np.array([*box.size[:2], height]), box.yaw_rad)


def _may_hold(fixture: Thing, thing: Thing) -> bool:
    if fixture.can(Property.BREWS):
        return thing.can(Property.FILLABLE)
    return fixture.kind.is_receptacle and fits(thing, fixture)


def _heights(thing_type: ObjectType, reference_m: float) -> tuple[float, float]:
    height = thing_type.size_m[2]
    if thing_type.kind.name == "Cabinet":
        bottom = max(reference_m - MIDDLE_ABOVE_CABINET_FLOOR_M, 0.02)
        return bottom, bottom + height
    if thing_type.kind.name in MIDDLE_AT_REFERENCE:
        return reference_m - 0.5 * height, reference_m + 0.5 * height
    if thing_type.kind.name in FOOT_AT_REFERENCE:
        return reference_m, reference_m + height
    if thing_type.kind.name in TOP_AT_REFERENCE and reference_m > ON_FLOOR_BELOW_M:
        standing = thing_type.kind.name == "CounterTop"
        return (0.0 if standing else reference_m - height), reference_m
    if reference_m > ON_FLOOR_BELOW_M:
        return 0.0, reference_m
    return reference_m, reference_m + height


def _cost(thing: Thing, fixture: Thing) -> float:
    """Return in metres how badly an object's place fits a receptacle."""
    box = fixture.box
    local = np.abs(box.local(thing.box.center[:2]))
    outside = np.maximum(local - 0.5 * box.size[:2], 0.0) * LONG_SURFACES.get(fixture.kind.name, 1.0)
    # Of two that fit, the smaller one and the one whose middle is closer.
    tie = 0.02 * float(np.linalg.norm(local)) + 0.02 * float(np.prod(box.size[:2]))
    return float(np.linalg.norm(outside)) + RISE_WEIGHT * _rise(thing, fixture) + tie


def _rise(thing: Thing, fixture: Thing) -> float:
    foot = thing.box.bottom_m
    if fixture.kind.holds == "in":
        low, high = fixture.box.bottom_m, fixture.box.top_m
        if fixture.kind.slides:  # what lies higher than a drawer's middle lies on the furniture above it
            high = float(fixture.box.center[2]) + DRAWER_SLACK_M
        return max(low - LEVEL_TOLERANCE_M - foot, foot - high, 0.0)
    tops = fixture.surface_heights_m
    miss = max(min(abs(foot - top) for top in tops) - LEVEL_TOLERANCE_M, 0.0)
    # Desks, dressers and tables have drawers and boards below their top.
    below = foot < max(tops) and fixture.box.bottom_m - LEVEL_TOLERANCE_M <= foot
    return min(miss, 0.5 * LOWER_SHELF_COST_M) if below and fixture.box.size[2] > 0.3 else miss

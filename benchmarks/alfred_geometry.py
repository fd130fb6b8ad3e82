"""Reconstructs what ALFRED's files leave out: boxes of fixtures from their reference points, and supports of
objects."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from memory_node.catalogue.object_kind import Property
from memory_node.domain.geometry import FloatArray, OrientedBox, Pose
from memory_node.sim.placement import fits
from memory_node.sim.thing import ObjectType, Thing
from memory_node.sim.visibility import horizontal_distance
from memory_node.sim.world import DRAWER_TRAVEL

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
# Seats and beds carry things at this share of their height or higher, and are so high at least (m).
_SEAT, _LOWEST_SEAT_M = 0.4, 0.25
_QUARTER = 0.5 * np.pi
# The thickness of a board (m).
_BOARD_M = 0.02
# Middles of two doors of a class that are this near (m) are the handles of a double door.
_DOUBLE_DOOR_M = 0.12
# Neighbours may share a wall of this thickness (m), and stand across each other: at most this cosine of their angle.
_SHARED_WALL_M, _ACROSS = 0.02, 0.3
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
    return float(np.round(np.arctan2(nearest[1], nearest[0]) / _QUARTER) * _QUARTER)


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

    The handles of a double door meet in the middle, so its two cabinets lie to both sides of them. Others in a row,
    above each other or in a corner are as narrow as their neighbour leaves room.
    """
    pairs = [two for two in itertools.combinations(fixtures, 2) if two[0].kind is two[1].kind]
    for part in (_open_double_door, _narrow):
        overlapping = [(one, other) for one, other in pairs if _overlap(one.box, other.box)]
        for one, other in overlapping:
            if _overlap(one.box, other.box):
                part(one, other)


def turn_drawers(fixtures: Sequence[Thing], reachable: FloatArray) -> None:
    """Let no drawer slide into the one beside it: the closest free floor may lie along their row. It then looks a
    quarter turn aside, to where free floor is closer."""
    drawers = [fixture for fixture in fixtures if fixture.kind.slides]

    def is_blocked(drawer: Thing, box: OrientedBox) -> bool:
        others = [box.local(other.box.center) / box.size for other in drawers if other is not drawer]
        return any(0.0 < x < 1.0 + DRAWER_TRAVEL and max(abs(y), abs(z)) < 0.5 for x, y, z in others)

    def off_floor_m(box: OrientedBox) -> float:
        front = box.center + 0.5 * box.size[0] * _axis(box, 0)
        return float(np.linalg.norm(reachable - front[:2], axis=1).min())

    for drawer in drawers:
        box = drawer.box
        if is_blocked(drawer, box):
            turned = [
                OrientedBox(box.center, box.size[[1, 0, 2]], box.yaw_rad + turn) for turn in (_QUARTER, -_QUARTER)
            ]
            drawer.box = min((one for one in turned if not is_blocked(drawer, one)), key=off_floor_m, default=box)


def _overlap(box: OrientedBox, other: OrientedBox) -> bool:
    """Return whether two boxes share more than a wall; of boards, which are as thin as one, more than half."""
    wall_m = np.minimum(_SHARED_WALL_M, 0.5 * np.minimum(box.size, other.size))
    return bool((_shared_m(box, other) > wall_m).all())


def _shared_m(box: OrientedBox, other: OrientedBox) -> FloatArray:
    """Return how far two boxes reach into each other along the axes of the first, (3,), m."""
    size = other.size[[1, 0, 2]] if _is_across(box, other) else other.size
    return np.asarray(0.5 * (box.size + size) - np.abs(box.local(other.center)))


def _is_across(box: OrientedBox, other: OrientedBox) -> bool:
    return bool(abs(np.cos(box.yaw_rad - other.yaw_rad)) < _ACROSS)


def _row_axis(one: Thing, other: Thing) -> int:
    """Return the axis of the first along which two are parted. Side by side (1) or above (2) each other they lie where
    their middles differ most, and in a corner where they share least."""
    if _is_across(one.box, other.box):
        return int(np.argmin(_shared_m(one.box, other.box)))
    apart = np.abs(one.box.local(other.box.center))
    return 1 if apart[1] >= apart[2] else 2


def _open_double_door(one: Thing, other: Thing) -> None:
    """Move two with one middle to both sides of it."""
    axis = _row_axis(one, other)
    is_double = abs(float(one.box.local(other.box.center)[axis])) < _DOUBLE_DOOR_M
    if is_double and not _is_across(one.box, other.box):
        _draw_apart(one, other, axis, 0.5 * float(_shared_m(one.box, other.box)[axis]), 0.0)


def _narrow(one: Thing, other: Thing) -> None:
    """Let each of two that overlap have half of what they share."""
    axis = _row_axis(one, other)
    narrowest_m = float(min(one.box.size[axis], other.box.size[_axis_of_other(one, other, axis)]))
    less_m = min(0.5 * float(_shared_m(one.box, other.box)[axis]), 0.5 * narrowest_m)
    _draw_apart(one, other, axis, 0.5 * less_m, less_m)


def _axis_of_other(one: Thing, other: Thing, axis: int) -> int:
    return 1 - axis if axis != 2 and _is_across(one.box, other.box) else axis


def _draw_apart(one: Thing, other: Thing, axis: int, by_m: float, less_m: float) -> None:
    """Move two away from each other along an axis of the first, each by so much, and make both shorter along it."""
    toward = 1.0 if one.box.local(other.box.center)[axis] >= 0.0 else -1.0
    across = _axis_of_other(one, other, axis)
    is_flipped = float(_axis(one.box, axis) @ _axis(other.box, across)) < 0.0
    one.box = _shifted(one.box, axis, -toward * by_m, less_m)
    other.box = _shifted(other.box, across, (-toward if is_flipped else toward) * by_m, less_m)


def _axis(box: OrientedBox, axis: int) -> FloatArray:
    """Return one of a box's own axes in the map frame, (3,)."""
    cos, sin = np.cos(box.yaw_rad), np.sin(box.yaw_rad)
    return np.array(((cos, sin, 0.0), (-sin, cos, 0.0), (0.0, 0.0, 1.0))[axis])


def _shifted(box: OrientedBox, axis: int, by_m: float, less_m: float) -> OrientedBox:
    """Return a box moved along one of its own axes, and shorter along it."""
    size = np.array(box.size)
    size[axis] -= less_m
    return OrientedBox(box.center + by_m * _axis(box, axis), size, box.yaw_rad)


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


def heap_up(objects: Sequence[Thing]) -> None:
    """Let two of a class that would share most of their space lie on each other: ALFRED has two pans 3 cm apart."""
    for one, other in itertools.combinations(objects, 2):
        if one.kind is other.kind and (_shared_m(one.box, other.box) > 0.5 * one.box.size).all():
            rise = np.array([0.0, 0.0, one.box.top_m - other.box.bottom_m])
            other.box = OrientedBox(other.box.center + rise, other.box.size, other.box.yaw_rad)


def settle_surfaces(fixtures: Sequence[Thing], objects: Sequence[Thing]) -> None:
    """Take the height of every surface from what stands on it, where something does; a flat top or a seat is raised or
    lowered to it, so that what stands there touches it."""
    for fixture in fixtures:
        feet = [thing.box.bottom_m for thing in objects if thing.parent_id == fixture.id]
        if fixture.kind.holds != "on" or not feet:
            continue
        level, bottom = max(fixture.kind.levels), fixture.box.bottom_m
        surface = bottom + level * float(fixture.box.size[2])
        near = [foot for foot in feet if abs(foot - surface) < 0.25] or feet
        fixture.contents_z_m = (float(np.median(near)),)
        height = (fixture.contents_z_m[0] - bottom) / level
        if (level == 1.0 and near is not feet) or (_SEAT <= level < 1.0 and height >= _LOWEST_SEAT_M):
            fixture.box = _with_top(fixture.box, bottom + height)


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
    bottom = reference_m if thing_type.kind.name in TOP_AT_REFERENCE else 0.0
    return bottom, bottom + height


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
    # Desks, dressers and tables have drawers and boards below their top; what stands on the floor is on none of them.
    below = fixture.box.bottom_m + LEVEL_TOLERANCE_M < foot < max(tops)
    return min(miss, 0.5 * LOWER_SHELF_COST_M) if below and fixture.box.size[2] > 0.3 else miss

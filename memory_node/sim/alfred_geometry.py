"""Reconstructs what ALFRED's files leave out: boxes of fixtures from their reference points, and supports of
objects."""

from __future__ import annotations

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
    offset = thing.box.center[:2] - box.center[:2]
    cos, sin = np.cos(box.yaw_rad), np.sin(box.yaw_rad)
    local = np.abs([cos * offset[0] + sin * offset[1], -sin * offset[0] + cos * offset[1]])
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

"""Oracle detection as KARMA used it: what is within 1.5 m, in view and not inside something closed."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from memory_node.domain.geometry import FloatArray, OrientedBox, Pose, wrap_angle
from memory_node.domain.observation import Frame, ObjectObservation
from memory_node.domain.states import ObjectState, StateBelief
from memory_node.sim.thing import HAND, Thing
from memory_node.sim.world import World

VIEW_RANGE_M = 1.5
ALL_AROUND_RAD = 2.0 * np.pi
# States that can be seen; that something was cleaned, heated or cooled cannot.
SEEN_STATES = frozenset(
    {
        ObjectState.OPENED,
        ObjectState.CLOSED,
        ObjectState.ON,
        ObjectState.OFF,
        ObjectState.SLICED,
        ObjectState.BROKEN,
        ObjectState.DIRTY,
        ObjectState.FILLED,
        ObjectState.COOKED,
    }
)
ORACLE_SIGMA_M = 0.01


def horizontal_distance(box: OrientedBox, point: FloatArray) -> float:
    """Return the distance in metres, seen from above, from a point (x, y) to the closest point of the box."""
    # Plain floats: this is asked for every thing at every step, and arrays of two are slow.
    east, north = float(point[0]) - float(box.center[0]), float(point[1]) - float(box.center[1])
    cos, sin = math.cos(box.yaw_rad), math.sin(box.yaw_rad)
    ahead = max(abs(cos * east + sin * north) - 0.5 * float(box.size[0]), 0.0)
    aside = max(abs(cos * north - sin * east) - 0.5 * float(box.size[1]), 0.0)
    return math.hypot(ahead, aside)


def is_visible(
    world: World, thing: Thing, eye: Pose, range_m: float = VIEW_RANGE_M, field_of_view_rad: float = ALL_AROUND_RAD
) -> bool:
    """Return whether a robot standing at `eye` sees the thing. Walls and closed containers hide; furniture does not."""
    if thing.parent_id == HAND:
        return True
    origin = eye.position[:2]
    if horizontal_distance(thing.box, origin) > range_m or world.closed_around(thing) is not None:
        return False
    target = thing.box.center[:2]
    if field_of_view_rad < ALL_AROUND_RAD:
        bearing = np.arctan2(target[1] - origin[1], target[0] - origin[0])
        if abs(wrap_angle(bearing - eye.yaw_rad)) > 0.5 * field_of_view_rad:
            return False
    return not world.layout.hides(origin, target)


def visible_things(
    world: World, eye: Pose, range_m: float = VIEW_RANGE_M, field_of_view_rad: float = ALL_AROUND_RAD
) -> list[Thing]:
    """Return all that a robot standing at `eye` sees, nearest first."""
    near = [(horizontal_distance(thing.box, eye.position), thing.id, thing) for thing in world]
    near = [entry for entry in near if entry[0] <= range_m]
    near.sort(key=lambda entry: entry[:2])
    return [thing for _, _, thing in near if is_visible(world, thing, eye, range_m, field_of_view_rad)]


def reported_things(world: World, things: Iterable[Thing]) -> list[Thing]:
    """Return those of some things that a detector reports: a self filter leaves out what the hand holds."""
    held = world.held
    in_hand = {thing.id for thing in world.with_contents(held)} if held is not None else set()
    return [thing for thing in things if thing.type.is_named and thing.id not in in_hand]


def oracle_observation(thing: Thing, now_ns: int) -> ObjectObservation:
    """Return the thing as a perfect detector would report it."""
    return ObjectObservation(
        class_scores={thing.class_name: 1.0},
        box=thing.box,
        covariance=np.eye(3) * ORACLE_SIGMA_M**2,
        states=tuple(StateBelief(state, 1.0, now_ns) for state in sorted(thing.states & SEEN_STATES)),
        source="oracle",
    )


def oracle_frame(
    world: World, eye: Pose, range_m: float = VIEW_RANGE_M, field_of_view_rad: float = ALL_AROUND_RAD
) -> Frame:
    """Return what is seen as a frame without depth; nothing is rendered."""
    seen = reported_things(world, visible_things(world, eye, range_m, field_of_view_rad))
    observations = tuple(oracle_observation(thing, world.now_ns) for thing in seen)
    return Frame(world.now_ns, eye, None, observations)

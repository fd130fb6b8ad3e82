"""What the robot sees, as KARMA's oracle detection has it, and what an argument of a skill call means."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

import numpy as np

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.geometry import FloatArray, OrientedBox, Pose, wrap_angle
from memory_node.domain.observation import Frame, ObjectObservation
from memory_node.domain.skill import FailureReason, ObjectReference, SkillFailure
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
    world: World,
    eye: Pose,
    range_m: float = VIEW_RANGE_M,
    field_of_view_rad: float = ALL_AROUND_RAD,
    stamp_ns: int | None = None,
) -> Frame:
    """Return what is seen as a frame without depth; nothing is rendered. stamp_ns: of the frame and of the states that
    are seen; None: the world's simulated time."""
    stamp_ns = world.now_ns if stamp_ns is None else stamp_ns
    seen = reported_things(world, visible_things(world, eye, range_m, field_of_view_rad))
    return Frame(stamp_ns, eye, None, tuple(oracle_observation(thing, stamp_ns) for thing in seen))


# A remembered place may be this far from the thing that it is about.
REMEMBERED_WITHIN_M = 0.5

_NUMBER = r"\s*[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?\s*"
_PLACE = re.compile(rf"^({_NUMBER}),({_NUMBER})(?:,({_NUMBER}))?$")


def parse_place(text: str) -> FloatArray | None:
    """Return (x, y) of a literal such as "1.5,-0.2" (a height may follow), or None when it is no literal."""
    match = _PLACE.match(text)
    return np.array([float(match[1]), float(match[2])]) if match else None


def parse_remembered(text: str) -> ObjectReference | None:
    """Return what "Class@x,y,z" says, or None when the text has no place.

    Raises:
        SkillFailure: INVALID_CALL when what follows the "@" is no place.
    """
    try:
        reference = ObjectReference.parse(text)
    except InvalidValueError as error:
        raise SkillFailure(FailureReason.INVALID_CALL, str(error)) from error
    return reference if reference.position is not None else None


def thing_at(world: World, remembered: ObjectReference) -> Thing | None:
    """Return the thing of the class closest to the remembered place, or None when none is within half a metre."""
    place = np.array(remembered.position)
    near = []
    for thing in world.of_class(remembered.object_class):
        # Memory may have kept the middle of a large thing or the spot where it was seen: its nearest point counts.
        rise = max(abs(float(place[2] - thing.box.center[2])) - 0.5 * float(thing.box.size[2]), 0.0)
        if thing.parent_id != HAND and np.hypot(horizontal_distance(thing.box, place), rise) <= REMEMBERED_WITHIN_M:
            near.append((float(np.linalg.norm(thing.box.center - place)), thing.id))
    return world[min(near)[1]] if near else None


def resolve(world: World, robot: Pose, text: str, view_range_m: float) -> Thing:
    """Return the thing that a skill's argument means.

    An id is that thing; "class@x,y,z" the thing of the class near the point; a class name the nearest that the robot
    sees from where it stands, other than what it holds.

    Raises:
        SkillFailure: INVALID_CALL, NOT_FOUND or NOT_VISIBLE.
    """
    if text in world:
        return world[text]
    remembered = parse_remembered(text)
    class_name = remembered.object_class if remembered else text
    types = world.types.called(class_name)
    if not types:
        raise SkillFailure(FailureReason.INVALID_CALL, f"{text!r} is neither an id of this home nor a class")
    if remembered is not None:
        thing = thing_at(world, remembered)
        if thing is None:
            raise SkillFailure(FailureReason.NOT_FOUND, f"no {class_name} within {REMEMBERED_WITHIN_M} m of there")
        return thing
    seen = (thing for thing in visible_things(world, robot, view_range_m) if thing.type in types)
    nearest = next((thing for thing in seen if thing.parent_id != HAND), None)
    if nearest is None:
        raise SkillFailure(FailureReason.NOT_VISIBLE, f"no {class_name} in view")
    return nearest

"""What an argument of a skill call means: a thing's id, a class, a class at a remembered place, or a place."""

from __future__ import annotations

import re

import numpy as np

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.geometry import FloatArray, Pose
from memory_node.domain.skill import FailureReason, ObjectReference, SkillFailure
from memory_node.sim.thing import HAND, Thing
from memory_node.sim.visibility import horizontal_distance, visible_things
from memory_node.sim.world import World

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

"""What an argument of a skill call means: a thing's id, a class, a class at a remembered place, or a place."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from memory_node.domain.geometry import FloatArray, Pose
from memory_node.domain.skill import FailureReason
from memory_node.home.execution import SkillFailure
from memory_node.home.thing import HAND, Thing
from memory_node.home.visibility import horizontal_distance, visible_things
from memory_node.home.world import World

# A remembered place may be this far from the thing that it is about.
REMEMBERED_WITHIN_M = 0.5

_NUMBER = r"\s*[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?\s*"
_PLACE = re.compile(rf"^({_NUMBER}),({_NUMBER})(?:,({_NUMBER}))?$")


@dataclass(frozen=True, eq=False)
class Remembered:
    """A class at a place: what memory knows of a thing whose id in this home it does not know."""

    class_name: str
    position: FloatArray


def parse_place(text: str) -> FloatArray | None:
    """Return (x, y) of a literal such as "1.5,-0.2" (a height may follow), or None when it is no literal."""
    match = _PLACE.match(text)
    return np.array([float(match[1]), float(match[2])]) if match else None


def parse_remembered(text: str) -> Remembered | None:
    """Return what "class@x,y" or "class@x,y,z" says, or None when the text has another form."""
    class_name, at, place = text.partition("@")
    match = _PLACE.match(place) if at and class_name else None
    if match is None:
        return None
    return Remembered(class_name, np.array([float(value) for value in match.groups() if value is not None]))


def thing_at(world: World, remembered: Remembered) -> Thing | None:
    """Return the thing of the class closest to the remembered place, or None when none is within half a metre."""
    axes = len(remembered.position)
    near = []
    for thing in world.of_class(remembered.class_name):
        # Memory may have kept the middle of a large thing or the spot where it was seen: its nearest point counts.
        flat = horizontal_distance(thing.box, remembered.position)
        rise = abs(float(remembered.position[2] - thing.box.center[2])) - 0.5 * float(thing.box.size[2])
        apart = float(np.hypot(flat, max(rise, 0.0) if axes == 3 else 0.0))
        if apart <= REMEMBERED_WITHIN_M:
            middle = float(np.linalg.norm(thing.box.center[:axes] - remembered.position))
            near.append((middle, thing.id))
    return world[min(near)[1]] if near else None


def resolve(world: World, robot: Pose, text: str, view_range_m: float) -> Thing:
    """Return the thing that a skill's argument means.

    An id is that thing; "class@x,y,z" the thing of the class near the point; a class name the held one, else the
    nearest that the robot sees from where it stands.

    Raises:
        SkillFailure: INVALID_CALL, NOT_FOUND or NOT_VISIBLE.
    """
    if text in world:
        return world[text]
    remembered = parse_remembered(text)
    class_name = remembered.class_name if remembered else text
    if world.types.get(class_name) is None:
        raise SkillFailure(FailureReason.INVALID_CALL, f"{text!r} is neither an id of this home nor a class")
    if remembered is not None:
        thing = thing_at(world, remembered)
        if thing is None:
            raise SkillFailure(FailureReason.NOT_FOUND, f"no {class_name} within {REMEMBERED_WITHIN_M} m of there")
        return thing
    kind = world.types[class_name]
    seen = [thing for thing in visible_things(world, robot, view_range_m) if thing.type is kind]
    if not seen:
        raise SkillFailure(FailureReason.NOT_VISIBLE, f"no {class_name} in view")
    return min(seen, key=lambda thing: thing.parent_id != HAND)

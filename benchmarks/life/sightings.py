"""Tells memory at once of what a camera saw somebody do; the robot does not move, and no time passes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from benchmarks.life.home import USER, is_held, is_person
from memory_node.domain.observation import Frame, ObjectObservation
from memory_node.domain.skill import ObjectReference, StateChange
from memory_node.domain.states import ObjectState
from memory_node.memory import RobotMemory
from memory_node.sim.robot import HomeRobot
from memory_node.sim.thing import Thing
from memory_node.sim.visibility import oracle_observation
from memory_node.sim.world import World

CAMERA = "camera"
_SAME_PLACE_M = 0.5


def remembered_as(memory: RobotMemory, thing: Thing) -> str:
    """Return memory's id of what it has nearest to a thing's true place, "" where it has none within 0.5 m.

    What the robot holds is the thing in the hand alone, although it was last seen where it was taken from.
    """
    held = memory.held_object()
    if held is not None and is_held(thing):
        return held.object_id
    near = [
        (float(np.linalg.norm(found.box.center - thing.box.center)), found.id)
        for found in memory.scene().objects
        if not found.removed and found.class_name == thing.class_name and (held is None or found.id != held.object_id)
    ]
    distance, object_id = min(near, default=(np.inf, ""))
    return object_id if distance <= _SAME_PLACE_M else ""


def take_notice(memory: RobotMemory, robot: HomeRobot, thing: Thing, now_ns: int) -> str:
    """Let memory see one thing that it does not know; return memory's id of it, "" where it took it for nothing."""
    seen = named(oracle_observation(thing, now_ns), thing)
    frame = Frame(now_ns, robot.body.pose, None, (seen,), complete=False)
    memory.observe(frame)
    return remembered_as(memory, thing)


def named(observation: ObjectObservation, thing: Thing) -> ObjectObservation:
    """Return what the detector sees of a thing, with the name of a person whom it knows."""
    return replace(observation, name=thing.id) if is_person(thing) and thing.id != USER else observation


def placed(world: World, thing: Thing, object_id: str, now_ns: int) -> StateChange:
    """Return the news of where a thing is now. object_id: memory's."""
    x, y, z = (float(value) for value in thing.box.center)
    support = next(world.supports(thing), None)
    return StateChange(
        object_id,
        thing.class_name,
        now_ns,
        held=False,
        support_id=str(ObjectReference.at(support.class_name, support.box.center)) if support is not None else "",
        inside=thing.inside,
        position=(x, y, z),
        source=CAMERA,
    )


def changed(thing: Thing, object_id: str, states: tuple[ObjectState, ...], now_ns: int) -> StateChange:
    """Return the news of states that a thing has now."""
    x, y, z = (float(value) for value in thing.box.center)
    ended = tuple(sorted({other for state in states for other in state.opposites}))
    return StateChange(
        object_id, thing.class_name, now_ns, added=states, removed=ended, position=(x, y, z), source=CAMERA
    )


def gone(thing: Thing, object_id: str, now_ns: int) -> StateChange:
    """Return the news that a thing is not there any more."""
    return StateChange(object_id, thing.class_name, now_ns, destroyed=True, source=CAMERA)

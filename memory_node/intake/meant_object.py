"""Which remembered object a step's argument means, and what is believed of it: steps name things by class, mostly
with a place."""

from __future__ import annotations

import threading
from functools import partial

import numpy as np

from memory_node.context.guidance import KnownThing
from memory_node.context.soft_memory import unsaid
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.object_reference import ObjectReference
from memory_node.domain.scene import SceneObject
from memory_node.domain.skill import SkillCall
from memory_node.domain.states import believed
from memory_node.scene_graph.graph import SceneGraph
from memory_node.scene_graph.state import ROBOT_ID

_SAME_THING_M = 1.0
# A thing that is named without a place is within the robot's reach (m).
_REACH_M = 2.0


def meant_object(
    text: str, scene: SceneGraph, robot: tuple[float, float, float] | None = None, carried: bool = False
) -> SceneObject | None:
    """Return the present object that a reference means, None where that is not certain.

    robot: where it stood, which tells one of several things without a place. carried: the thing is, or just was, in
    the hand; its place is then where it was taken from.
    """
    known = scene.state.table.id_of(text)
    if known:
        found = scene.object(known)
        return None if found.removed else found
    try:
        reference = ObjectReference.parse(text)
    except InvalidValueError:
        return None
    alike = scene.objects_of_class(reference.object_class)
    held = next((found for found in alike if found.support_id == ROBOT_ID), None)
    if held is not None and (carried or reference.position is None):
        return held
    if reference.position is None:
        return _without_place(alike, robot)
    # A drawer may have been pulled out since.
    rows, distances_m = scene.distances(reference.object_class, reference.position, may_have_slid=True)
    if not len(rows) or distances_m.min() > _SAME_THING_M:
        return held
    return scene.object(scene.id_of(int(rows[distances_m.argmin()])))


def _without_place(alike: list[SceneObject], robot: tuple[float, float, float] | None) -> SceneObject | None:
    """Return the only one of its class, else the only one within the robot's reach."""
    if len(alike) < 2:
        return alike[0] if alike else None
    near = _within(alike, np.array([*robot[:2], np.nan]), _REACH_M) if robot is not None else []
    return near[0] if len(near) == 1 else None


def named_by_class(call: SkillCall, scene: SceneGraph) -> SkillCall:
    """Return the call with memory's own ids as Class@x,y,z: what is learnt of a thing must hold for others like it."""
    return SkillCall(call.skill, tuple(_named(text, scene) for text in call.arguments))


def _named(text: str, scene: SceneGraph) -> str:
    if text not in scene.state.table.row_of:
        return text
    return scene.object(text).reference


def _within(objects: list[SceneObject], place: np.ndarray, radius_m: float) -> list[SceneObject]:
    """Return the objects within a radius, nearest first; a coordinate that is nan says nothing."""
    distance = {found.id: float(np.sqrt(np.nansum((found.box.center - place) ** 2))) for found in objects}
    near = [found for found in objects if distance[found.id] <= radius_m]
    return sorted(near, key=lambda found: distance[found.id])


class KnownThings:
    """A `LookUp` in the scene graph; thread-safe.

    lock: guards it. close_m: horizontal distance from the robot within which a thing is close.
    """

    def __init__(self, scene: SceneGraph, lock: threading.RLock, close_m: float) -> None:
        self._close_m = close_m
        self._scene = scene
        self._lock = lock

    def __call__(self, reference: str, object_class: str) -> KnownThing | None:
        """Return what is believed of the thing that a reference means; None where that is not certain."""
        with self._lock:
            found = meant_object(reference, self._scene)
            if found is None:
                return None
            support, camera = self._support_of(found), self._scene.camera_at
            return KnownThing(
                found.class_name,
                support.reference if support is not None else "",
                support.class_name if support is not None else "",
                found.inside and support is not None,
                believed(found.states),
                self._is_close(found),
                partial(unsaid, found, camera) if camera is not None else None,
                found.id,
                support.id if support is not None else "",
            )

    def _is_close(self, found: SceneObject) -> bool:
        camera = self._scene.camera_at
        return camera is not None and float(np.linalg.norm(found.box.center[:2] - camera[:2])) <= self._close_m

    def _support_of(self, found: SceneObject) -> SceneObject | None:
        if not found.movable or found.support_id not in self._scene.state.table.row_of or found.support_id == ROBOT_ID:
            return None
        support = self._scene.object(found.support_id)
        return None if support.removed else support

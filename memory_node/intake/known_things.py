"""What is believed of the thing that a step's argument means: steps name things by class, mostly with a place."""

from __future__ import annotations

import threading
from functools import partial

import numpy as np

from memory_node.context.guidance import KnownThing
from memory_node.context.soft_memory import unsaid
from memory_node.domain.scene import SceneObject
from memory_node.domain.skill import SkillCall
from memory_node.domain.states import believed
from memory_node.scene_graph.graph import SceneGraph
from memory_node.scene_graph.state import ROBOT_ID


def named_by_class(call: SkillCall, scene: SceneGraph) -> SkillCall:
    """Return the call with memory's own ids and names as Class@x,y,z: what is learnt of a thing must hold for others
    like it."""
    found = ((text, scene.find(text)) for text in call.arguments)
    return SkillCall(call.skill, tuple(one.reference if one is not None else text for text, one in found))


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
            found = self._scene.meant(reference)
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

"""What the scene graph believes of one thing that a call names."""

from __future__ import annotations

import threading

import numpy as np

from memory_node.context.step_observation import KnownThing
from memory_node.domain.object_reference import ObjectReference
from memory_node.domain.scene import SceneObject
from memory_node.domain.states import believed
from memory_node.intake.meant_object import meant_object
from memory_node.scene_graph.graph import SceneGraph
from memory_node.scene_graph.state import ROBOT_ID


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
            support = self._support_of(found)
            return KnownThing(
                found.class_name,
                str(ObjectReference.at(support.class_name, support.box.center)) if support is not None else "",
                support.class_name if support is not None else "",
                found.inside and support is not None,
                believed(found.states),
                self._is_close(found),
            )

    def _is_close(self, found: SceneObject) -> bool:
        camera = self._scene.camera_at
        return camera is not None and float(np.linalg.norm(found.box.center[:2] - camera[:2])) <= self._close_m

    def _support_of(self, found: SceneObject) -> SceneObject | None:
        if not found.movable or found.support_id not in self._scene.state.table.row_of or found.support_id == ROBOT_ID:
            return None
        support = self._scene.object(found.support_id)
        return None if support.removed else support

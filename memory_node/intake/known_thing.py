"""What the scene graph believes of one thing that a call names."""

from __future__ import annotations

import threading

from memory_node.context.step_observation import KnownThing
from memory_node.domain.scene import SceneObject
from memory_node.domain.skill_library import ObjectReference
from memory_node.domain.states import believed
from memory_node.intake.meant_object import meant_object
from memory_node.scene_graph.graph import SceneGraph
from memory_node.scene_graph.state import ROBOT_ID


class KnownThings:
    """A `LookUp` in the scene graph; thread-safe. lock: guards it."""

    def __init__(self, scene: SceneGraph, lock: threading.RLock) -> None:
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
            )

    def _support_of(self, found: SceneObject) -> SceneObject | None:
        if not found.movable or found.support_id not in self._scene.state.table.row_of or found.support_id == ROBOT_ID:
            return None
        support = self._scene.object(found.support_id)
        return None if support.removed else support

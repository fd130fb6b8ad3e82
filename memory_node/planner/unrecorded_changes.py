"""What skills have changed in one instruction and memory has not taken over.

A memory that is a map made beforehand follows nothing. A planner knows all the same what it has just done.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace

from memory_node.domain.scene import SceneObject, SceneSnapshot
from memory_node.domain.skill import StateChange


class UnrecordedChanges:
    """Changes in their order, with memory's ids in place of the robot's."""

    def __init__(self) -> None:
        self._changes: list[StateChange] = []

    def note(
        self, changes: Iterable[StateChange], recorded: Collection[str], memory_id_of: Callable[[str], str]
    ) -> None:
        """Keep what memory did not take over.

        recorded: the robot's ids of the things whose changes memory has taken over; memory_id_of: memory's id of what a
        robot's id stands for, "" for what memory does not know.
        """
        for change in changes:
            known = memory_id_of(change.created_from or change.object_id)
            if known and change.object_id not in recorded:
                itself = change.object_id if change.created_from else known
                origin = known if change.created_from else ""
                support = memory_id_of(change.support_id) if change.support_id else ""
                self._changes.append(replace(change, object_id=itself, created_from=origin, support_id=support))

    def over(self, scene: SceneSnapshot) -> SceneSnapshot:
        """Return a scene graph with the changes."""
        if not self._changes:
            return scene
        objects = {found.id: found for found in scene.objects}
        for change in self._changes:
            before = objects.get(change.object_id) or _made_from(change, objects.get(change.created_from))
            if before is not None:
                objects[change.object_id] = _changed(before, change, objects.get(change.support_id))
        return replace(scene, objects=tuple(objects.values()))


def _made_from(change: StateChange, whole: SceneObject | None) -> SceneObject | None:
    """Return a piece of a thing that was cut: it lies where that is."""
    if whole is None:
        return None
    return replace(whole, id=change.object_id, class_probabilities={change.object_class: 1.0}, removed=False, states=())


def _changed(found: SceneObject, change: StateChange, support: SceneObject | None) -> SceneObject:
    found = replace(found, removed=change.destroyed, states=change.states_after(found.states))
    if change.held is None:
        return found
    if support is None:
        return replace(found, support_id="", inside=False)
    box = replace(found.box, center=support.box.center)
    return replace(found, support_id=support.id, inside=change.inside, box=box, area_id=support.area_id)

"""Finds the remembered object that a skill executor means: executors have ids of their own, or none."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np

from memory_node.domain.scene import SceneObject
from memory_node.domain.skill import StateChange
from memory_node.domain.skill_library import ObjectReference

# A thing of the right class this close to where the executor says it is, is that thing.
SAME_PLACE_M = 0.75


class ChangeGrounding:
    """Translates changes from an executor's references to memory's ids; remembers each id that it has resolved once.

    Args:
        objects_of_class: returns the present objects of a class.
        exists: whether memory has an object of this id.
        held: returns the ids of what the robot is believed to hold.
        make_id: makes the id of an object that memory has not seen yet.
    """

    def __init__(
        self,
        objects_of_class: Callable[[str], Iterable[SceneObject]],
        exists: Callable[[str], bool],
        held: Callable[[], frozenset[str]],
        make_id: Callable[[], str],
    ) -> None:
        self._objects_of_class = objects_of_class
        self._exists = exists
        self._held = held
        self._make_id = make_id
        self._known: dict[str, str] = {}

    def ground(self, change: StateChange) -> StateChange:
        """Return the change in memory's ids; an object that fits nothing gets a new id, to be entered with it."""
        object_id = self._resolve(change)
        # Where an effect was noticed is no news of where the thing is, unless it was put there.
        moved = change.held is False or bool(change.support_id) or not self._exists(object_id)
        return replace(
            change,
            object_id=object_id,
            support_id=self._reference(change.support_id),
            created_from=self._known.get(change.created_from, change.created_from),
            position=change.position if moved else None,
        )

    def _resolve(self, change: StateChange) -> str:
        executor_id = change.object_id
        if executor_id and self._exists(executor_id):
            return executor_id
        if self._exists(self._known.get(executor_id, "")):
            return self._known[executor_id]
        # A thing just cut off another one cannot be one that was seen before.
        found = "" if change.created_from else self._nearest(change.object_class, change.position, change.held)
        object_id = found or self._make_id()
        if executor_id:
            self._known[executor_id] = object_id
        return object_id

    def _nearest(self, object_class: str, position: tuple[float, float, float] | None, held: bool | None = None) -> str:
        candidates = list(self._objects_of_class(object_class))
        if held is False:
            # What the hand holds is known by that; its remembered place is where it was taken from.
            held_ids = self._held()
            in_hand = [found for found in candidates if found.id in held_ids]
            if in_hand:
                return in_hand[0].id
        if position is None:
            return candidates[0].id if len(candidates) == 1 else ""
        near = [(float(np.linalg.norm(found.box.center - position)), found.id) for found in candidates]
        distance, object_id = min(near, default=(np.inf, ""))
        return object_id if distance <= SAME_PLACE_M else ""

    def _reference(self, text: str) -> str:
        if not text or self._exists(text):
            return text
        if text in self._known:
            return self._known[text]
        reference = ObjectReference.parse(text)
        return self._nearest(reference.object_class, reference.position)

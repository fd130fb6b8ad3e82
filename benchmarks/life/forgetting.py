"""A memory that forgets at once what it does not have: things outside the cache (no scene graph), or all movables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from benchmarks.life.switches import KARMA, SCENE
from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.observation import Frame
from memory_node.domain.scene import SceneEvent, SceneEventKind
from memory_node.memory import RobotMemory

_GONE = (SceneEventKind.FORGOTTEN, SceneEventKind.MERGED)


class Forgetting:
    """Follows the scene graph of a memory.

    without: `scene` keeps only what the short-term memory or the hand holds; `karma-no-short-term` keeps no movable
    thing but the one in the hand, as KARMA's ablation does.
    """

    def __init__(self, memory: RobotMemory, without: str) -> None:
        self._memory = memory
        self._kinds = load_catalogue()
        self._known: dict[str, str] = {found.id: found.class_name for found in memory.scene().objects}
        keeps: dict[str, Callable[[str], bool]] = {SCENE: self._is_cached, KARMA: self._is_fixed}
        self._keeps = keeps[without]
        self._sees_movables = without != KARMA
        memory.on_change(self._note)

    def seen(self, frame: Frame) -> Frame:
        """Return what of a frame this memory takes in at all."""
        if self._sees_movables:
            return frame
        return replace(frame, observations=tuple(one for one in frame.observations if self._stays(one.best_class)))

    def forget(self) -> None:
        """Forget what this memory does not have."""
        held = self._memory.held_object()
        kept = {held.object_id} if held is not None else set()
        for object_id in [one for one in self._known if one not in kept and not self._keeps(one)]:
            self._known.pop(object_id)
            self._memory.forget(object_id)

    def _note(self, events: tuple[SceneEvent, ...], _from: int, _to: int) -> None:
        for event in events:
            if event.kind in _GONE:
                self._known.pop(event.object.id, None)
            else:
                self._known[event.object.id] = event.object.class_name

    def _is_cached(self, object_id: str) -> bool:
        return object_id in self._memory.cache

    def _is_fixed(self, object_id: str) -> bool:
        return self._stays(self._known[object_id])

    def _stays(self, class_name: str) -> bool:
        return not self._kinds[class_name].pickupable

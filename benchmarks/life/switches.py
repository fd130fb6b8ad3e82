"""What a setting switches: the memory that is off, and the replacement policy of the short-term memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import cast

from benchmarks.cache import COMPARED
from benchmarks.life.day_form import Category
from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.context import Memory
from memory_node.domain.observation import Frame
from memory_node.domain.scene import SceneEvent, SceneEventKind
from memory_node.memory import RobotMemory
from memory_node.short_term.config import POLICY_NAMES, PolicyName, ShortTermConfig
from memory_node.short_term.policies import build_policy
from memory_node.short_term.replacement import OnEvict, ReplacementPolicy

SCENE, SHORT_TERM, EPISODES, LESSONS = "scene", "short-term", "episodes", "lessons"
FACTS, WORKING, COMPILER = "facts", "working", "compiler"
MEMORIES = (SCENE, SHORT_TERM, EPISODES, LESSONS, FACTS, WORKING, COMPILER)
KARMA = "karma-no-short-term"
EACH = "each"
# By memory, the categories on which it must count; the compiler's row is compared over all.
OWN: dict[str, tuple[Category, ...]] = {
    SCENE: ("where",),
    SHORT_TERM: ("recent",),
    KARMA: ("recent",),
    EPISODES: ("past",),
    LESSONS: ("lessons", "ways"),
    FACTS: ("facts",),
    WORKING: ("state",),
}
# A memory whose removal costs less than this on its own category is without effect.
LEAST_COST = 0.3
_GONE = (SceneEventKind.FORGOTTEN, SceneEventKind.MERGED)
POLICIES = (*COMPARED, *POLICY_NAMES)


def unread(without: str) -> tuple[Memory, ...]:
    """Return the memories that are written and not read."""
    return (Memory(without),) if without in {str(one) for one in Memory} else ()


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


@dataclass(frozen=True)
class CacheSetting:
    """A replacement policy and how many things it keeps."""

    policy: str
    capacity: int

    @property
    def config(self) -> ShortTermConfig:
        """The parameters of such a short-term memory."""
        own = ShortTermConfig(capacity=self.capacity)
        return own.changed(policy=cast("PolicyName", self.policy)) if self.policy in POLICY_NAMES else own

    def build(self, config: ShortTermConfig, on_evict: OnEvict) -> ReplacementPolicy:
        """Return the policy."""
        compared = COMPARED.get(self.policy)
        return build_policy(config, on_evict) if compared is None else compared(config.capacity, on_evict)

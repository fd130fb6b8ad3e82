"""Memory with parts of it switched off, to measure what each part is worth (KARMA's ablation)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from memory_node.domain.answer import AnswerStatus, FindQuery, Location, RankedArea, Recollection
from memory_node.domain.context import ALL_SOURCES, Context, ContextSource
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.ports import MemoryPort
from memory_node.domain.scene import HeldObject, SceneSnapshot
from memory_node.domain.skill import StateChange
from memory_node.memory import RobotMemory
from memory_node.planner import memory_mode
from memory_node.planner.memory_mode import MapOnlyMemory, ground_of
from memory_node.questions.locate import locate


class MemoryProxy:
    """A `MemoryPort` that passes all on to the memory behind it."""

    def __init__(self, memory: MemoryPort) -> None:
        self._memory = memory

    def recall(self, query: FindQuery) -> Recollection:
        """Ask the short-term memory."""
        return self._memory.recall(query)

    def find(self, query: FindQuery) -> Recollection:
        """Ask the scene graph."""
        return self._memory.find(query)

    def locate(self, query: FindQuery, max_areas: int = 0) -> Location:
        """Ask both as this memory answers, else where to look."""
        return locate(query, self.recall, self.find, self.rank_search_areas, max_areas)

    def rank_search_areas(self, object_class: str, k: int = 0) -> tuple[RankedArea, ...]:
        """Ask where a thing is likely."""
        return self._memory.rank_search_areas(object_class, k)

    def remember(self, changes: Sequence[StateChange]) -> tuple[str, ...]:
        """Take in what a skill changed."""
        return self._memory.remember(changes)

    def held_object(self) -> HeldObject | None:
        """Return what the hand holds."""
        return self._memory.held_object()

    def context(
        self,
        instruction: str,
        token_budget: int = 2000,
        episode_id: str = "",
        sources: Collection[ContextSource] = ALL_SOURCES,
    ) -> Context:
        """Return memory's context."""
        return self._memory.context(instruction, token_budget, episode_id, sources)

    def scene(self) -> SceneSnapshot:
        """Return the scene graph."""
        return self._memory.scene()


KARMA_NO_SHORT_TERM, NO_CACHE, NO_LONG_TERM = "karma-no-short-term", "no-cache", "no-long-term"
_OBJECTS_ALONE = (KARMA_NO_SHORT_TERM, NO_CACHE, NO_LONG_TERM)
MODES = (*memory_mode.MODES, *_OBJECTS_ALONE)


def sources_of(mode: str) -> frozenset[ContextSource]:
    """Return what a planner in this mode is told of."""
    return frozenset({ContextSource.OBJECTS}) if mode in _OBJECTS_ALONE else memory_mode.sources_of(mode)


def ablated(mode: str, memory: RobotMemory) -> MemoryPort:
    """Return what a planner in this mode may ask.

    Raises:
        InvalidValueError: no such mode.
    """
    if mode not in MODES:
        raise InvalidValueError(f"memory: expected one of {', '.join(MODES)}, got {mode!r}")
    if mode == NO_LONG_TERM:
        return ShortTermMemory(memory)
    if mode == NO_CACHE:
        return MemoryWithoutCache(memory)
    return MemoryOfStartUp(memory) if mode == KARMA_NO_SHORT_TERM else memory_mode.memory_in(mode, memory)


class ShortTermMemory(MemoryProxy):
    """Short-term memory and the map. Its scene graph holds what short-term memory does, so that a planner that is shown
    things, and one that asks for them, know the same."""

    def __init__(self, memory: RobotMemory) -> None:
        super().__init__(memory)
        self._cache, self._map = memory.cache, MapOnlyMemory(memory)

    def find(self, query: FindQuery) -> Recollection:
        """Abstain."""
        return self._map.find(query)

    def rank_search_areas(self, object_class: str, k: int = 0) -> tuple[RankedArea, ...]:
        """Return all areas as equally likely."""
        return self._map.rank_search_areas(object_class, k)

    def scene(self) -> SceneSnapshot:
        """Return the ground of the scene graph, and on it the things that were just seen or used."""
        scene = self._memory.scene()
        return ground_of(scene, [found for found in scene.objects if found.id in self._cache])


class MemoryWithoutCache(MemoryProxy):
    """The scene graph alone: it follows skills and camera, while the short-term memory answers nothing."""

    def recall(self, query: FindQuery) -> Recollection:
        """Abstain."""
        return Recollection((), AnswerStatus.UNKNOWN, "there is no short-term memory")


class MemoryOfStartUp(MemoryWithoutCache):
    """Long-term memory alone, as KARMA ablates it: a map made beforehand, which no skill of the day changes. Only what
    the hand holds is followed."""

    def __init__(self, memory: MemoryPort) -> None:
        super().__init__(memory)
        self._held = memory.held_object()

    def remember(self, changes: Sequence[StateChange]) -> tuple[str, ...]:
        """Ignore what a skill changed, except in the hand."""
        self._held = _held_after(self._held, changes)
        return ("",) * len(changes)

    def held_object(self) -> HeldObject | None:
        """Return what the hand holds."""
        return self._held


def _held_after(held: HeldObject | None, changes: Iterable[StateChange]) -> HeldObject | None:
    """Return what the hand holds after changes, for a memory that tracks nothing else."""
    for change in changes:
        if change.held is True:
            held = HeldObject(change.object_id, change.object_class)
        elif held is not None and change.object_id == held.object_id and (change.held is False or change.destroyed):
            held = None
    return held

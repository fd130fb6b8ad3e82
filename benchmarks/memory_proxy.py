"""A memory before another one, for those that hide or narrow a part of it."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from memory_node.domain.answer import FindQuery, Location, RankedArea, Recollection
from memory_node.domain.context import ALL_SOURCES, Context, ContextSource
from memory_node.domain.ports import MemoryPort
from memory_node.domain.scene import HeldObject, SceneSnapshot
from memory_node.domain.skill import StateChange
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

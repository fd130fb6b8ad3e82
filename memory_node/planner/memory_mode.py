"""Which memory a planner works with: objects, experience, both, or neither."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Literal, get_args

from memory_node.domain.answer import AnswerStatus, FindQuery, Location, RankedArea, Recollection
from memory_node.domain.context import ALL_SOURCES, Context, ContextSource
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.ports import MemoryPort
from memory_node.domain.scene import HeldObject, SceneObject, SceneSnapshot
from memory_node.domain.skill import StateChange

_NOTHING = "this memory knows only the map"


class MapOnlyMemory:
    """A `MemoryPort` before the memory that it hides: floors, rooms, areas and the hand are known, no object is.

    The hidden memory is still told what skills change, so that it stays correct for its other users.
    """

    def __init__(self, memory: MemoryPort) -> None:
        self._memory = memory

    def recall(self, query: FindQuery) -> Recollection:
        """Abstain."""
        return Recollection((), AnswerStatus.UNKNOWN, _NOTHING)

    def find(self, query: FindQuery) -> Recollection:
        """Abstain."""
        return Recollection((), AnswerStatus.UNKNOWN, _NOTHING)

    def locate(self, query: FindQuery, max_areas: int = 0) -> Location:
        """Abstain, with the places to search."""
        areas = self.rank_search_areas(query.object_class, max_areas)
        return Location((), AnswerStatus.UNKNOWN, _NOTHING, areas)

    def rank_search_areas(self, object_class: str, k: int = 0) -> tuple[RankedArea, ...]:
        """Return all areas as equally likely, in the order of a short tour."""
        areas = _tour(sorted(self._memory.rank_search_areas("", 0), key=lambda area: (area.name, area.area_id)))
        listed = areas[:k] if k else areas
        return tuple(replace(area, probability=1.0 / len(areas), reason="part of the map") for area in listed)

    def remember(self, changes: Sequence[StateChange]) -> tuple[str, ...]:
        """Tell the memory behind."""
        return self._memory.remember(changes)

    def held_object(self) -> HeldObject | None:
        """Return what the hand holds: a robot feels that."""
        return self._memory.held_object()

    def context(
        self,
        instruction: str,
        token_budget: int = 2000,
        episode_id: str = "",
        sources: Collection[ContextSource] = ALL_SOURCES,
    ) -> Context:
        """Return what episodes taught, where that is asked for; nothing of objects."""
        left = frozenset(sources) & {ContextSource.EXPERIENCE}
        return self._memory.context(instruction, token_budget, episode_id, left) if left else Context()

    def scene(self) -> SceneSnapshot:
        """Return the ground of the scene graph: floors, rooms and areas."""
        return ground_of(self._memory.scene())


def ground_of(scene: SceneSnapshot, things: Sequence[SceneObject] = ()) -> SceneSnapshot:
    """Return a scene graph without its objects, but for some things."""
    left = {node.id for nodes in (scene.floors, scene.rooms, scene.areas, things) for node in nodes}
    between = tuple(r for r in scene.relations if r.source_id in left and r.target_id in left)
    return replace(scene, objects=tuple(things), relations=between)


def _tour(areas: list[RankedArea]) -> list[RankedArea]:
    """Return the areas each next to the one before it."""
    tour, left = areas[:1], areas[1:]
    while left:
        here = tour[-1].position
        nearest = min(left, key=lambda area: math.dist(area.position, here))
        left.remove(nearest)
        tour.append(nearest)
    return tour


Mode = Literal["full+experience", "full", "experience", "none"]
MODES: tuple[str, ...] = get_args(Mode)

_OBJECTS, _EXPERIENCE = frozenset({ContextSource.OBJECTS}), frozenset({ContextSource.EXPERIENCE})
_SOURCES = {
    "full+experience": _OBJECTS | _EXPERIENCE,
    "full": _OBJECTS,
    "experience": _EXPERIENCE,
    "none": frozenset[ContextSource](),
}


def sources_of(mode: str) -> frozenset[ContextSource]:
    """Return what a planner in this mode is told of.

    Raises:
        InvalidValueError: no such mode.
    """
    if mode not in _SOURCES:
        raise InvalidValueError(f"memory: expected one of {', '.join(MODES)}, got {mode!r}")
    return _SOURCES[mode]


def memory_in(mode: str, memory: MemoryPort) -> MemoryPort:
    """Return what a planner in this mode may ask: the memory, or one that knows only the map.

    Raises:
        InvalidValueError: no such mode.
    """
    return memory if ContextSource.OBJECTS in sources_of(mode) else MapOnlyMemory(memory)

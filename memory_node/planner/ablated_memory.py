"""Memory with parts of it switched off, to measure what each part is worth (KARMA's ablation)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from memory_node.context.sections import EXPERIENCE_SECTIONS
from memory_node.domain.answer import AnswerStatus, FindQuery, RankedArea, Recollection
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.ports import MemoryPort
from memory_node.domain.scene import SceneSnapshot
from memory_node.domain.skill import StateChange

MODES = ("full", "no-short-term", "no-long-term", "none", "experience", "full+experience")


def uses_experience(mode: str) -> bool:
    """Return whether a planner in this mode is given what was learnt from episodes."""
    return mode in ("experience", "full+experience")


class AblatedMemory:
    """A `MemoryPort` that answers only from the parts that `mode` leaves; the map itself is not memory and stays."""

    def __init__(self, memory: MemoryPort, mode: str) -> None:
        if mode not in MODES:
            raise InvalidValueError(f"memory: expected one of {', '.join(MODES)}, got {mode!r}")
        self._memory = memory
        self._short_term = mode in ("full", "full+experience", "no-long-term")
        self._long_term = mode in ("full", "full+experience", "no-short-term")
        self._experience = uses_experience(mode)

    def recall(self, query: FindQuery) -> Recollection:
        """Answer from the short-term memory, if it is on."""
        return self._memory.recall(query) if self._short_term else _OFF

    def find(self, query: FindQuery) -> Recollection:
        """Answer from the scene graph, if it is on."""
        return self._memory.find(query) if self._long_term else _OFF

    def rank_search_areas(self, object_class: str, k: int = 0) -> tuple[RankedArea, ...]:
        """Rank the areas; without long-term memory all are equally likely, in the order of a short tour."""
        if self._long_term:
            return self._memory.rank_search_areas(object_class, k)
        areas = _tour(sorted(self._memory.rank_search_areas("", 0), key=lambda area: (area.name, area.area_id)))
        listed = areas[:k] if k else areas
        return tuple(replace(area, probability=1.0 / len(areas), reason="no long-term memory") for area in listed)

    def remember(self, changes: Sequence[StateChange]) -> tuple[str, ...]:
        """Tell memory, unless nothing of it is on."""
        return self._memory.remember(changes) if self._short_term or self._long_term else ("",) * len(changes)

    def context(self, instruction: str, token_budget: int = 2000) -> str:
        """Return memory's context, or that part of it that is on: objects, or what was learnt from episodes."""
        objects = self._short_term or self._long_term
        if not objects and not self._experience:
            return ""
        text = self._memory.context(instruction, token_budget)
        if objects and self._experience:
            return text
        return "\n\n".join(part for part in text.split("\n\n") if _is_learnt(part) == self._experience)

    def scene(self) -> SceneSnapshot:
        """Return the scene graph; without long-term memory its ground alone: floors, rooms and areas."""
        scene = self._memory.scene()
        if self._long_term:
            return scene
        ground = {n.id for nodes in (scene.floors, scene.rooms, scene.areas) for n in nodes}
        paths = tuple(r for r in scene.relations if r.source_id in ground and r.target_id in ground)
        return replace(scene, objects=(), relations=paths)


def _is_learnt(section: str) -> bool:
    return section.partition("\n")[0].removeprefix("## ") in EXPERIENCE_SECTIONS


def _tour(areas: list[RankedArea]) -> list[RankedArea]:
    """Return the areas each next to the one before it: who remembers nothing still searches without zigzag."""
    tour, left = areas[:1], areas[1:]
    while left:
        here = tour[-1].position
        nearest = min(left, key=lambda area: math.dist(area.position, here))
        left.remove(nearest)
        tour.append(nearest)
    return tour


_OFF = Recollection((), AnswerStatus.UNKNOWN, "this part of memory is switched off")

"""A memory of which a planner knows only the things on the list that memory writes for an instruction."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from benchmarks.memory_proxy import MemoryProxy
from memory_node.domain.answer import FindQuery, Location, Recollection
from memory_node.domain.context import ALL_SOURCES, Context, ContextSource
from memory_node.domain.scene import SceneSnapshot
from memory_node.domain.skill import StateChange
from memory_node.knowledge.answering import KnowledgeAnswer
from memory_node.memory import RobotMemory
from memory_node.planner.memory_mode import ground_of

LIST_TOKENS = 1500
_ID = re.compile(r"\(id (\S+)\)")


def listed_ids(text: str, scene: SceneSnapshot) -> frozenset[str]:
    """Return the ids of the things that a context tells of: by their ids, and all in the areas that it describes."""
    areas: set[str] = set()
    for line in text.splitlines():
        if line.startswith("{"):
            areas.add(str(json.loads(line).get("name")))
    told = {area.id for area in scene.areas if area.name in areas}
    return frozenset(_ID.findall(text)) | {found.id for found in scene.objects if found.area_id in told}


class ListedMemory(MemoryProxy):
    """A memory for one instruction: it knows what is on the list, and what was handled since."""

    def __init__(self, memory: RobotMemory, instruction: str) -> None:
        super().__init__(memory)
        self._memory: RobotMemory = memory
        text = memory.context(instruction, LIST_TOKENS, sources=(ContextSource.OBJECTS,)).text
        self._listed = set(listed_ids(text, memory.scene()))

    def recall(self, query: FindQuery) -> Recollection:
        """Ask the short-term memory for what is on the list."""
        return self._memory.recall(self._narrowed(query))

    def find(self, query: FindQuery) -> Recollection:
        """Ask the scene graph for what is on the list."""
        return self._memory.find(self._narrowed(query))

    def locate(self, query: FindQuery, max_areas: int = 0) -> Location:
        """Ask memory for what is on the list, else where to look."""
        return self._memory.locate(self._narrowed(query), max_areas)

    def ask(self, question: str) -> KnowledgeAnswer:
        """Ask what was told and read: the scene graph would tell of things that are not on the list."""
        return self._memory.knowledge.ask(question)

    def remember(self, changes: Sequence[StateChange]) -> tuple[str, ...]:
        """Tell memory; what was handled is known from now on."""
        ids = self._memory.remember(changes)
        self._listed.update(filter(None, ids))
        return ids

    def context(
        self,
        instruction: str,
        token_budget: int = 2000,
        episode_id: str = "",
        sources: Collection[ContextSource] = ALL_SOURCES,
    ) -> Context:
        """Return memory's context, no longer than the list may be."""
        return self._memory.context(instruction, min(token_budget, LIST_TOKENS), episode_id, sources)

    def scene(self) -> SceneSnapshot:
        """Return the scene graph with the things on the list."""
        scene = self._memory.scene()
        return ground_of(scene, [found for found in scene.objects if found.id in self._listed])

    def _narrowed(self, query: FindQuery) -> FindQuery:
        others = {found.id for found in self._memory.scene().objects} - self._listed
        return replace(query, exclude_ids=query.exclude_ids | others)

"""A memory of which a planner knows only the things on the list that memory writes for an instruction."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import replace

from benchmarks.memory_proxy import MemoryProxy
from memory_node.domain.answer import FindQuery, Location, Recollection
from memory_node.domain.context import ALL_SOURCES, Context, ContextSource
from memory_node.domain.scene import SceneObject, SceneSnapshot
from memory_node.domain.skill import StateChange
from memory_node.domain.step import Deed
from memory_node.knowledge.answering import KnowledgeAnswer
from memory_node.memory import RobotMemory
from memory_node.planner.memory_mode import ground_of

LIST_TOKENS = 1500
_ID = re.compile(r"\(id (\S+)\)")


def ids_in(text: str) -> frozenset[str]:
    """Return the ids that a context tells."""
    return frozenset(_ID.findall(text))


def told_in_words(text: str, scene: SceneSnapshot) -> frozenset[str]:
    """Return the ids of the things in the areas that a context describes, but of movable ones that it only counts:
    "pen on counter top (23)" tells of none of them which one it is."""
    areas = {str(json.loads(line).get("name")) for line in text.splitlines() if line.startswith("{")}
    told = {area.id for area in scene.areas if area.name in areas}
    here = [one for one in scene.objects if one.area_id in told and not one.removed]
    words = {one.id: _words_of(one, scene) for one in here}
    counts = Counter(words.values())
    return frozenset(one.id for one in here if not one.movable or counts[words[one.id]] == 1)


def _words_of(one: SceneObject, scene: SceneSnapshot) -> Hashable:
    """Return what the words of an area say of a thing."""
    support = scene.by_id.get(one.support_id)
    states = frozenset(belief.state for belief in one.states if belief.probability > 0.5)
    return one.area_id, one.class_name, support and support.class_name, one.inside, states


class ListedMemory(MemoryProxy):
    """A memory for one instruction: it knows what is on the list, and what was handled since.

    What the list tells by its id is the same thing as in the records of the past. What it has only words for is that
    where it still is where the robot left it.
    """

    def __init__(self, memory: RobotMemory, instruction: str) -> None:
        super().__init__(memory)
        self._memory: RobotMemory = memory
        text = memory.context(instruction, LIST_TOKENS, sources=(ContextSource.OBJECTS,)).text
        scene = memory.scene()
        self._by_id = ids_in(text)
        self._listed = set(self._by_id | told_in_words(text, scene))
        self._support_of = {one.id: one.support_id for one in scene.objects}

    def recognized(self, deeds: Iterable[Deed]) -> tuple[Deed, ...]:
        """Return deeds, without the id of each thing of which the list does not tell that it is the same."""
        deeds = tuple(deeds)
        left_at = {one.object_id: one.to_id for one in deeds if one.skill == "PutObject" and not one.reason}
        same = self._by_id | {one for one, place in left_at.items() if place and self._support_of.get(one) == place}
        return tuple(one if one.object_id in same else replace(one, object_id="") for one in deeds)

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

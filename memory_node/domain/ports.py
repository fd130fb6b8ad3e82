"""What the layers need of each other, as protocols: the same planner runs in one process or over ROS services."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.answer import FindQuery, Location, RankedArea, Recollection
from memory_node.domain.context import ALL_SOURCES, Context, ContextSource
from memory_node.domain.scene import HeldObject, SceneSnapshot
from memory_node.domain.skill import SkillCall, SkillResult, StateChange
from memory_node.domain.step import NO_ACCOUNT, EpisodeAccount, StepRecord


class TextEmbedder(Protocol):
    """Sentence embeddings: unit vectors whose dot product is the cosine similarity."""

    @property
    def dimension(self) -> int:
        """Length of the vectors."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (len(texts), dimension) unit vectors."""


class MemoryPort(Protocol):
    """What a planner may ask of memory, and tell it."""

    def recall(self, query: FindQuery) -> Recollection:
        """Return what the short-term memory holds that fits the query."""

    def find(self, query: FindQuery) -> Recollection:
        """Return what the long-term scene graph holds that fits the query."""

    def locate(self, query: FindQuery, max_areas: int = 0) -> Location:
        """Return where a thing is by the short-term memory, else by the scene graph, else where to look for it.

        Counts as one lookup. max_areas: at most so many places to look at; 0: all.
        """

    def rank_search_areas(self, object_class: str, k: int = 0) -> tuple[RankedArea, ...]:
        """Return the areas where an object of the class is likely, best first; k = 0 gives all."""

    def remember(self, changes: Sequence[StateChange]) -> tuple[str, ...]:
        """Take over what a skill is known to have changed; returns once it is durable, with memory's id of each
        change's object, "" where nothing fitted."""

    def held_object(self) -> HeldObject | None:
        """Return what the hand holds, None when it is empty."""

    def context(
        self,
        instruction: str,
        token_budget: int = 2000,
        episode_id: str = "",
        sources: Collection[ContextSource] = ALL_SOURCES,
    ) -> Context:
        """Return what a language model should know of memory for this instruction.

        episode_id: the running episode; empty: of those that run, the one that began last.
        """

    def scene(self) -> SceneSnapshot:
        """Return the whole scene graph."""


class SkillPort(Protocol):
    """A robot that can execute the skills of the library."""

    def execute(self, call: SkillCall) -> SkillResult:
        """Run one skill to its end; never raises for a skill that fails."""


class ExperiencePort(Protocol):
    """What a planner may ask of experience while it carries out an instruction, and tell it."""

    def start(self, instruction: str, task_type: str = "", episode_id: str = "", attempt: int = 1) -> str:
        """Begin an episode and return its id; attempt: 1 for the first."""

    def record(self, step: StepRecord, context_id: str = "") -> object:
        """Record a step of the episode; context_id: of the context by which it was chosen."""

    def end(
        self, episode_id: str, success: bool | None, message: str = "", account: EpisodeAccount = NO_ACCOUNT
    ) -> object:
        """End the episode; None: nobody can say how it went. message: why it failed, in the planner's words."""

    def may_retry(self, attempt: int) -> bool:
        """Return whether a failed attempt may be followed by another one, to learn more."""

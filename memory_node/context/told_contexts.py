"""The newest contexts that planners were told, and all else that is kept of an episode."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, replace

from memory_node.context.guidance import CompiledStep
from memory_node.domain.clock import Clock
from memory_node.domain.context import Context
from memory_node.domain.step import NO_ACCOUNT, EpisodeAccount, StepRecord


@dataclass(frozen=True)
class PastEpisode:
    """What is kept of an episode.

    steps: in order. compiled: what memory's compiler delivered at its last steps. contexts: those that a planner was
    sent and chose steps by. account: what it took, and what was said in it. The last three are of this process only.
    """

    steps: tuple[StepRecord, ...] = ()
    compiled: tuple[CompiledStep, ...] = ()
    contexts: tuple[ToldContext, ...] = ()
    account: EpisodeAccount = NO_ACCOUNT

    def __bool__(self) -> bool:
        return bool(self.steps or self.compiled or self.contexts or self.account != NO_ACCOUNT)


# How long a planner may still act on a context.
_KEPT_NS = 1800 * 10**9
# The newest contexts that are kept: some kilobytes each.
_MOST = 256


@dataclass(frozen=True)
class ToldContext:
    """A context as a planner was sent it.

    instruction, token_budget: as the planner asked for it. episode_id: of the episode in which it was acted on, ""
    while nobody has. steps: indices of the steps that were chosen by it. lessons: ids of those that it tells.
    """

    context: Context
    instruction: str
    token_budget: int
    stamp_ns: int
    episode_id: str = ""
    steps: tuple[int, ...] = ()
    lessons: tuple[str, ...] = ()


class ToldContexts:
    """What planners were told last, and which steps they chose by it. Thread-safe."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._told: OrderedDict[str, ToldContext] = OrderedDict()

    def note(self, context: Context, instruction: str, token_budget: int, lesson_ids: Iterable[str]) -> None:
        """Remember a context."""
        told = ToldContext(context, instruction, token_budget, self._clock(), lessons=tuple(lesson_ids))
        with self._lock:
            self._told[context.id] = told
            if len(self._told) > _MOST:
                self._told.popitem(last=False)

    def note_step(self, context_id: str, episode_id: str, index: int) -> tuple[str, ...] | None:
        """Note that a step was chosen by a context, and return the ids of its lessons; None for one that is not
        remembered, or told too long ago."""
        now_ns = self._clock()
        with self._lock:
            told = self._told.get(context_id)
            if told is None or now_ns - told.stamp_ns > _KEPT_NS:
                return None
            steps = told.steps if index in told.steps else (*told.steps, index)
            self._told[context_id] = replace(told, episode_id=episode_id, steps=steps)
            return told.lessons

    def of_episode(self, episode_id: str) -> tuple[ToldContext, ...]:
        """Return the contexts that steps of an episode were chosen by, in their order; the last of this process."""
        with self._lock:
            return tuple(told for told in self._told.values() if told.episode_id == episode_id)

    def forget(self) -> None:
        """Remember none: something that they may tell of is forgotten."""
        with self._lock:
            self._told.clear()

"""The contexts that planners were told, for as long as they may still act on them, those that they acted on, and all
else that is kept of an episode."""

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
KEPT_S = 1800.0
_MOST = 1024
# So many are kept with their words, for people who look into memory: some kilobytes each.
_MOST_WORDS = 64


@dataclass(frozen=True)
class ToldContext:
    """A context as a planner was sent it.

    instruction, token_budget: as the planner asked for it. episode_id: of the episode in which it was acted on, ""
    while nobody has. steps: indices of the steps that were chosen by it.
    """

    context: Context
    instruction: str
    token_budget: int
    stamp_ns: int
    episode_id: str = ""
    steps: tuple[int, ...] = ()


class ToldContexts:
    """What each context said that is counted when a planner acts on it: the ids of its lessons. Thread-safe."""

    def __init__(self, clock: Clock, kept_s: float = KEPT_S) -> None:
        self._clock = clock
        self._kept_ns = int(kept_s * 1e9)
        self._lock = threading.Lock()
        self._told: OrderedDict[str, tuple[int, tuple[str, ...]]] = OrderedDict()
        self._words: OrderedDict[str, ToldContext] = OrderedDict()
        self._acted_on: OrderedDict[str, ToldContext] = OrderedDict()

    def note(self, context: Context, instruction: str, token_budget: int, lesson_ids: Iterable[str]) -> None:
        """Remember a context until its time is over."""
        now_ns = self._clock()
        with self._lock:
            self._told[context.id] = now_ns, tuple(lesson_ids)
            while self._told and (len(self._told) > _MOST or self._is_over(now_ns)):
                self._told.popitem(last=False)
            _keep(self._words, context.id, ToldContext(context, instruction, token_budget, now_ns))

    def lessons_of(self, context_id: str) -> tuple[str, ...] | None:
        """Return the ids of a context's lessons; None for one that is not remembered, or not any more."""
        with self._lock:
            stamp_ns, keys = self._told.get(context_id, (0, None))
        return None if self._clock() - stamp_ns > self._kept_ns else keys

    def note_step(self, context_id: str, episode_id: str, index: int) -> None:
        """Note that a step was chosen by a context; nothing where its words are not kept any more."""
        with self._lock:
            told = self._acted_on.get(context_id) or self._words.pop(context_id, None)
            if told is not None:
                steps = told.steps if index in told.steps else (*told.steps, index)
                _keep(self._acted_on, context_id, replace(told, episode_id=episode_id, steps=steps))

    def of_episode(self, episode_id: str) -> tuple[ToldContext, ...]:
        """Return the contexts that steps of an episode were chosen by, in their order; the last of this process."""
        with self._lock:
            return tuple(told for told in self._acted_on.values() if told.episode_id == episode_id)

    def forget_words(self) -> None:
        """Keep no words of any context: something that they may tell of is forgotten."""
        with self._lock:
            self._words.clear()
            self._acted_on.clear()

    def _is_over(self, now_ns: int) -> bool:
        stamp_ns, _ = next(iter(self._told.values()))
        return now_ns - stamp_ns > self._kept_ns


def _keep(contexts: OrderedDict[str, ToldContext], context_id: str, told: ToldContext) -> None:
    contexts[context_id] = told
    if len(contexts) > _MOST_WORDS:
        contexts.popitem(last=False)

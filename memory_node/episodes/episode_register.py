"""The episodes that run, and the last ones that have ended."""

from __future__ import annotations

from dataclasses import replace

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.errors import NotFoundError
from memory_node.domain.skill import SkillCall
from memory_node.domain.step import NO_ACCOUNT, EpisodeAccount, EpisodeSummary, StepRecord
from memory_node.episodes.class_actions import class_arguments, class_call
from memory_node.episodes.working_memory import ConsistencyWarning, WorkingMemory


class RunningEpisode:
    """Steps and working memory (`memory`) of one attempt; not thread-safe.

    kinds: by default the household's. classes: the classes of its steps so far, its key objects.
    """

    def __init__(self, summary: EpisodeSummary, window: int, kinds: ObjectCatalogue | None = None) -> None:
        self.summary = summary
        self.given: set[str] = set()
        self._asked_for: tuple[SkillCall | None, frozenset[str]] = (None, frozenset())
        self._window = window
        self._kinds = kinds
        self._steps: dict[int, StepRecord] = {}
        self.classes: set[str] = set()
        self.memory = WorkingMemory(window, summary.first.held_object, kinds)

    def __contains__(self, index: int) -> bool:
        """Return whether a step of this index was recorded."""
        return index in self._steps

    @property
    def steps(self) -> tuple[StepRecord, ...]:
        """The steps so far, by index."""
        return tuple(self._steps[index] for index in sorted(self._steps))

    @property
    def room(self) -> str:
        """The room of the last step; "" when it is not known."""
        return self._steps[max(self._steps)].room if self._steps else ""

    @property
    def last_ns(self) -> int:
        """Stamp of the last sign of life."""
        return max([self.summary.started_ns, *(step.stamp_ns for step in self._steps.values())])

    def record(self, step: StepRecord) -> tuple[ConsistencyWarning, ...]:
        """Take a step; the same index again changes nothing; one that comes late is put in its place."""
        if step.index in self._steps:
            return ()
        late = bool(self._steps) and step.index < max(self._steps)
        self._steps[step.index] = step
        self.classes.update(class_arguments(step))
        if not late:
            return self.memory.record(step)
        # Working memory follows the order of the steps, so a late one rebuilds it.
        self.memory = WorkingMemory(self._window, self.summary.first.held_object, self._kinds)
        return [self.memory.record(ordered) for ordered in self.steps][-1]

    def give(self, lesson_ids: frozenset[str], goal: SkillCall | None = None) -> None:
        """Note that a planner was given lessons. goal: the call that they ask for next."""
        self.given |= lesson_ids
        if goal is not None:
            self._asked_for = (class_call(goal), lesson_ids)

    def followed(self, step: StepRecord) -> frozenset[str]:
        """Return the lessons that asked for a step, none where another one was taken; each answer is given once."""
        goal, lesson_ids = self._asked_for
        self._asked_for = (None, frozenset())
        return lesson_ids if goal is not None and class_call(step.action) == goal else frozenset()

    def ended(self, success: bool | None, stamp_ns: int, message: str = "") -> EpisodeSummary:
        """Return the summary of the finished episode."""
        return replace(self.summary, success=success, ended_ns=max(stamp_ns, self.last_ns), message=message)


# Ended episodes that are remembered by id, to answer a repeated EndEpisode.
ENDED_KEPT = 1000


class EpisodeRegister:
    """Episodes by id; not thread-safe. window, kinds: of their working memory, see RunningEpisode."""

    def __init__(self, window: int, kinds: ObjectCatalogue | None = None) -> None:
        self._window = window
        self._kinds = kinds
        self._running: dict[str, RunningEpisode] = {}
        self._ended: dict[str, EpisodeAccount] = {}

    def __len__(self) -> int:
        """The number of running episodes."""
        return len(self._running)

    def begin(self, summary: EpisodeSummary) -> bool:
        """Begin an episode; return whether it is new."""
        if summary.id in self._running or summary.id in self._ended:
            return False
        self._running[summary.id] = RunningEpisode(summary, self._window, self._kinds)
        return True

    def add_task_type(self, episode_id: str, task_type: str) -> EpisodeSummary | None:
        """Give a running episode a task type, if it has none; return its summary if that changed it."""
        episode = self._running.get(episode_id)
        if episode is None or not task_type or episode.summary.task_type:
            return None
        episode.summary = replace(episode.summary, task_type=task_type)
        return episode.summary

    def running(self, episode_id: str) -> RunningEpisode:
        """Return a running episode.

        Raises:
            NotFoundError: the episode is not running.
        """
        if episode_id not in self._running:
            state = "has ended" if episode_id in self._ended else "was never started"
            raise NotFoundError(f"episode {episode_id!r} {state}")
        return self._running[episode_id]

    def find(self, episode_id: str) -> RunningEpisode | None:
        """Return a running episode; None when it is not running."""
        return self._running.get(episode_id)

    def latest(self) -> RunningEpisode | None:
        """Return the running episode that began last."""
        return next(reversed(self._running.values()), None)

    def summaries(self) -> tuple[EpisodeSummary, ...]:
        """Return the running episodes in the order in which they began."""
        return tuple(episode.summary for episode in self._running.values())

    def silent_since(self, stamp_ns: int) -> list[str]:
        """Return the ids of the running episodes without a sign of life since a stamp."""
        return [episode_id for episode_id, episode in self._running.items() if episode.last_ns < stamp_ns]

    def has_ended(self, episode_id: str) -> bool:
        """Return whether an episode is among the last ones that have ended."""
        return episode_id in self._ended

    def account_of(self, episode_id: str) -> EpisodeAccount:
        """Return what an episode took and what was said in it, of the last ones that have ended."""
        return self._ended.get(episode_id, NO_ACCOUNT)

    def end(self, episode_id: str, account: EpisodeAccount = NO_ACCOUNT) -> None:
        """Note that an episode has ended."""
        self._running.pop(episode_id, None)
        self._ended[episode_id] = account
        while len(self._ended) > ENDED_KEPT:
            del self._ended[next(iter(self._ended))]

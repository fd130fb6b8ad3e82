"""Experience as a whole: episodes run, end and teach; queries get back what was learnt."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from typing import Any

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.ids import IdSource, new_id
from memory_node.domain.ports import TextEmbedder
from memory_node.domain.skill import SkillCall
from memory_node.domain.step import NO_ACCOUNT, NOTHING_SEEN, EpisodeAccount, EpisodeSummary, FirstScene, StepRecord
from memory_node.episodes.episode_register import EpisodeRegister
from memory_node.episodes.past_attempt import ATTEMPTS, PastAttempt
from memory_node.episodes.working_memory import ConsistencyWarning, WorkingMemoryView
from memory_node.lessons.config import ExperienceConfig
from memory_node.lessons.episode_reader import ModelEpisodeReader
from memory_node.lessons.lesson import LESSONS, ExperienceLog, Lesson
from memory_node.lessons.long_term import ExperienceAnswer, ExperienceQuery, LongTermExperience, OnEnded
from memory_node.lessons.optimizer.curator import Curator


class Experience(LongTermExperience):
    """Working, episodic and semantic memory; thread-safe. Learning runs in the background, one episode at a time.

    now_ns: the clock. learning: see LongTermExperience.
    """

    def __init__(
        self,
        config: ExperienceConfig,
        log: ExperienceLog,
        now_ns: Callable[[], int],
        new_episode_id: IdSource = new_id,
        kinds: ObjectCatalogue | None = None,
        curator: Curator | None = None,
        on_ended: OnEnded | None = None,
        embedder: TextEmbedder | None = None,
        reader: ModelEpisodeReader | None = None,
    ) -> None:
        super().__init__(config, log, kinds, curator, on_ended, embedder, reader)
        self._now_ns = now_ns
        self._new_episode_id = new_episode_id
        self._episodes = EpisodeRegister(config.window, kinds)
        self._unlearnt: dict[str, EpisodeSummary] = {}

    def load(
        self,
        attempts: Iterable[dict[str, Any]],
        lessons: Iterable[Lesson],
        own_episodes: Iterable[EpisodeSummary] = (),
    ) -> None:
        """Take over what the store holds of semantic memory, at start-up.

        own_episodes: this robot's newest ones, oldest first. Those that have not ended run on, and get their steps back
        by `load_episodes`; it also learns from those that ended when no time was left for their lesson.
        """
        with self._lock:
            for attempt in map(PastAttempt.from_dict, attempts):
                self._attempts.add(attempt)
            self._bank.load(lessons)
            for episode in own_episodes:
                if not episode.ended_ns:
                    self._episodes.begin(episode)
                    continue
                self._episodes.end(episode.id)
                if episode.success is not None and episode.id not in self._attempts:
                    self._unlearnt[episode.id] = episode

    def load_episodes(self, episodes: Iterable[tuple[str, Sequence[StepRecord]]]) -> Future[int]:
        """Take over stored episodes, oldest first, in the background: start-up does not wait for a million steps.

        The future tells how many were taken.
        """
        return self._soon(partial(self._load_all, episodes), "not all earlier episodes could be read")

    def _load_all(self, episodes: Iterable[tuple[str, Sequence[StepRecord]]]) -> int:
        count = 0
        for episode_id, steps in episodes:
            if self._closing.is_set():
                break
            with self._lock:
                if not self._resume(episode_id, steps) and episode_id not in self._graph:
                    self._add_episode(episode_id, steps)
                    count += 1
        return count

    def take_over(
        self,
        attempts: Iterable[Mapping[str, Any]],
        lessons: Iterable[Mapping[str, Any]],
        episodes: Iterable[tuple[str, Sequence[StepRecord]]],
        gone_lessons: Iterable[str] = (),
    ) -> None:
        """Take over what another robot has learnt, which is in the store already; lessons as they stand there."""
        with self._lock:
            self.load(map(dict, attempts), [Lesson.from_dict(dict(values)) for values in lessons])
            for episode_id, steps in episodes:
                self._add_episode(episode_id, steps)
            for lesson_id in gone_lessons:
                self._bank.remove(lesson_id)

    def drop_forgotten(self, is_forgotten: Callable[[str, str], bool]) -> tuple[str, ...]:
        """Give up what has gone from the store already; return the episodes.

        is_forgotten: whether what a kind ("episode", or of a document) and an id name was forgotten.
        """
        with self._lock:
            episodes = tuple(i for i in self._graph if is_forgotten("episode", i))
            for episode_id in episodes:
                self._withdraw(episode_id)
            for episode_id in [i for i in self._attempts if is_forgotten(ATTEMPTS, i)]:
                self._attempts.remove(episode_id)
            for lesson in [one for one in self._bank if is_forgotten(LESSONS, one.id)]:
                self._bank.remove(lesson.id)
        return episodes

    def knows(self, episode_id: str) -> bool:
        """Return whether an ended episode's steps are kept in memory."""
        with self._lock:
            return episode_id in self._graph and self._episodes.find(episode_id) is None

    def start(
        self,
        instruction: str,
        task_type: str = "",
        episode_id: str = "",
        attempt: int = 1,
        first: FirstScene = NOTHING_SEEN,
    ) -> str:
        """Begin an episode and return its id; beginning it again only adds a task type that was not known before."""
        with self._lock:
            episode_id = episode_id or self._new_episode_id()
            summary = EpisodeSummary(episode_id, instruction, task_type, self._now_ns(), attempt=attempt, first=first)
            if self._episodes.begin(summary):
                self._log.put_episode(summary)
            changed = self._episodes.add_task_type(episode_id, task_type)
            if changed is not None:
                self._log.put_episode(changed)
            return episode_id

    def record(self, step: StepRecord) -> tuple[ConsistencyWarning, ...]:
        """Record a step of a running episode; return what was inconsistent about it.

        Raises:
            NotFoundError: the episode is not running.
        """
        with self._lock:
            episode = self._episodes.running(step.episode_id)
            is_new = step.index not in episode
            warnings = episode.record(step)
            if is_new:
                self._follow(episode.summary, episode.steps, step)
            self._log.put_step(step)
            followed = episode.followed(step)
        if followed and self.config.learning:
            self._note_followed(followed, step)
        return warnings

    def account_of(self, episode_id: str) -> EpisodeAccount:
        """Return what an episode took and what was said in it, of the last ones that have ended."""
        with self._lock:
            return self._episodes.account_of(episode_id)

    def end(
        self, episode_id: str, success: bool | None, message: str = "", account: EpisodeAccount = NO_ACCOUNT
    ) -> Future[None] | None:
        """End an episode; its lesson is learnt in the background. None: it had ended already.

        message: why it failed, as the planner sees it. success None means abandoned: nobody said how it went, and
        nothing is learnt from it; nor is it where the config says that nothing is.

        Raises:
            NotFoundError: the episode is not known.
        """
        with self._lock:
            if self._episodes.has_ended(episode_id):
                return None
            episode = self._episodes.running(episode_id)
            self._episodes.end(episode_id, account)
            summary = episode.ended(success, self._now_ns(), message)
            self._log.put_episode(summary)
            if success is None or not self.config.learning:
                self._graph.close(episode_id)
                return None
        return self._study(summary, episode.steps, frozenset(episode.given))

    def end_abandoned(self, silent_s: float) -> list[str]:
        """End episodes whose client has been silent for so long; return their ids."""
        deadline_ns = self._now_ns() - int(silent_s * 1e9)
        with self._lock:
            silent = self._episodes.silent_since(deadline_ns)
            for episode_id in silent:
                self.end(episode_id, None)
            return silent

    def ask(self, query: ExperienceQuery) -> ExperienceAnswer:
        """Return what experience knows; lessons of it count as given when a planner acts on them (`note_given`).

        What the query leaves empty is taken from its running episode, or from the one that began last: the task
        type, and the room of the last step.
        """
        with self._lock:
            episode = self._episodes.find(query.episode_id) if query.episode_id else self._episodes.latest()
            if episode is None:
                return self._answer(query)
            summary = episode.summary
            query = replace(
                query,
                instruction=query.instruction or summary.instruction,
                task_type=query.task_type or summary.task_type,
                room=query.room or episode.room,
                first=self._first_state(summary),
            )
            answer = self._answer(query)
            return replace(answer, working_memory=episode.memory.view() if "working" in self.config.parts else None)

    def note_given(self, lesson_ids: Iterable[str], episode_id: str, goal: SkillCall | None = None) -> None:
        """Note that a planner acts on these lessons in a running episode; their counts move when it ends.

        goal: the call that they asked for; the next step tells whether it was followed, and what came of it.

        Raises:
            NotFoundError: the episode is not running.
        """
        with self._lock:
            self._episodes.running(episode_id).give(frozenset(lesson_ids), goal)

    def _resume(self, episode_id: str, steps: Sequence[StepRecord]) -> bool:
        """Give an episode that goes on after a restart its earlier steps back, or learn from it; False: neither."""
        unlearnt = self._unlearnt.pop(episode_id, None)
        if unlearnt is not None:
            self._study(unlearnt, tuple(steps), frozenset())
            return True
        episode = self._episodes.find(episode_id)
        if episode is None:
            return False
        for step in steps:
            episode.record(step)
        self._graph.add(episode_id, episode.steps, self._first_state(episode.summary))
        return True

    def key_classes(self, episode_id: str) -> frozenset[str]:
        """Return the classes that a running episode was about so far; empty when it is not running."""
        with self._lock:
            episode = self._episodes.find(episode_id)
            return frozenset(episode.classes) if episode is not None else frozenset()

    @property
    def running(self) -> tuple[EpisodeSummary, ...]:
        """The episodes that run, in the order in which they began."""
        with self._lock:
            return self._episodes.summaries()

    def working_memory(self, episode_id: str) -> WorkingMemoryView | None:
        """Return a running episode's working memory, or None when it is not running."""
        with self._lock:
            episode = self._episodes.find(episode_id)
            return episode.memory.view() if episode is not None else None

    def may_retry(self, attempt: int) -> bool:
        """Return whether a failed attempt may be followed by another one."""
        return attempt < self.config.max_attempts

    def forget(self, episode_id: str) -> None:
        """Withdraw an episode from all that was learnt; what only it supported goes with it. A running one is over."""
        with self._lock:
            self._unlearnt.pop(episode_id, None)
            if self._episodes.find(episode_id) is not None:
                self._episodes.end(episode_id)
        super().forget(episode_id)

    def figures(self) -> dict[str, int]:
        """Return how much is known, what runs, and what became of the lessons, for diagnostics."""
        with self._lock:
            return {"episodes.running": len(self._episodes), **super().figures()}

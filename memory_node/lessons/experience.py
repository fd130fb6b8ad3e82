"""Experience as a whole: episodes run, end and teach; queries get back what was learnt."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from typing import Any

from memory_node.catalogue.label_space import load_catalogue
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.advice import Advice
from memory_node.domain.ids import IdSource, new_id
from memory_node.domain.skill import SkillCall
from memory_node.domain.step import EpisodeSummary, StepRecord
from memory_node.episodes.consistency import ConsistencyWarning
from memory_node.episodes.episode_register import EpisodeRegister
from memory_node.episodes.working_memory import WorkingMemoryView
from memory_node.lessons.config import ExperienceConfig
from memory_node.lessons.curation import Advise, Curation, no_advice
from memory_node.lessons.episode_advice import advice_before
from memory_node.lessons.experience_answer import ExperienceAnswer, ExperienceQuery, answer_to
from memory_node.lessons.extractor import Extractor, Lesson
from memory_node.lessons.guideline import Guideline
from memory_node.lessons.learner import Learner
from memory_node.lessons.log import GUIDELINES, RECORDS, ExperienceLog
from memory_node.lessons.long_term import LongTermExperience
from memory_node.lessons.optimizer.curator import ENTRIES, MemoryCurator
from memory_node.lessons.optimizer.entry import MemoryEntry


class Experience:
    """Working, episodic and semantic memory; thread-safe. Learning runs in the background, one episode at a time.

    extractor: see learner.Learner. kinds: what can be done with classes, by default the household's. curator:
    keeps what the optimizer of memory writes; None: nobody does. advise, most_waiting: see curation.Curation.
    """

    def __init__(
        self,
        config: ExperienceConfig,
        extractor: Extractor,
        log: ExperienceLog,
        now_ns: Callable[[], int],
        new_episode_id: IdSource = new_id,
        kinds: ObjectCatalogue | None = None,
        curator: MemoryCurator | None = None,
        advise: Advise = no_advice,
        most_waiting: int = 8,
    ) -> None:
        self._config = config
        self._log = log
        self._now_ns = now_ns
        self._new_episode_id = new_episode_id
        self._lock = threading.RLock()
        self._episodes = EpisodeRegister(config.window, kinds)
        self._unlearnt: dict[str, EpisodeSummary] = {}
        self._long_term = LongTermExperience(config)
        self._curation: Curation | None = None
        if curator is not None:
            known = kinds if kinds is not None else load_catalogue()
            self._curation = Curation(curator, self._long_term.book, self._lock, known, log, advise, most_waiting)
        self._learner = Learner(self._long_term, self._lock, extractor, log, self._curation)

    def load(
        self,
        records: Iterable[dict[str, Any]],
        guidelines: Iterable[dict[str, Any]],
        own_episodes: Iterable[EpisodeSummary] = (),
        entries: Iterable[dict[str, Any]] = (),
    ) -> None:
        """Take over what the store holds of semantic memory, at start-up. entries: of the optimizer's bank.

        own_episodes: this robot's newest ones, oldest first. Those that have not ended run on, and get their steps back
        by `load_episodes`; it also learns from those that ended when no time was left for their lesson.
        """
        with self._lock:
            self._long_term.load(records, guidelines)
            if self._curation is not None:
                self._curation.load(entries)
            for episode in own_episodes:
                if not episode.ended_ns:
                    self._episodes.begin(episode)
                    continue
                self._episodes.end(episode.id, episode.success)
                if episode.success is not None and episode.id not in self._long_term.records:
                    self._unlearnt[episode.id] = episode

    def load_episodes(self, episodes: Iterable[tuple[str, Sequence[StepRecord]]]) -> Future[int]:
        """Take over stored episodes, oldest first, in the background: start-up does not wait for a million steps.

        The future tells how many were taken.
        """
        return self._learner.load(episodes, self._resume)

    def take_over(
        self,
        records: Iterable[Mapping[str, Any]],
        guidelines: Iterable[Mapping[str, Any]],
        episodes: Iterable[tuple[str, Sequence[StepRecord]]],
        gone_guidelines: Iterable[str] = (),
    ) -> None:
        """Take over what another robot has learnt, which is in the store already; guidelines as they stand there."""
        with self._lock:
            for episode_id, steps in episodes:
                self._long_term.add_episode(episode_id, steps)
            self._long_term.load(map(dict, records), map(dict, guidelines))
            self._long_term.book.drop(gone_guidelines)

    def drop_forgotten(self, is_forgotten: Callable[[str, str], bool]) -> tuple[str, ...]:
        """Give up what has gone from the store already; return the episodes.

        is_forgotten: whether what a kind ("episode", or of a document) and an id name was forgotten.
        """
        with self._lock:
            episodes = tuple(i for i in self._long_term.graph if is_forgotten("episode", i))
            for episode_id in episodes:
                self._long_term.forget(episode_id)
            for episode_id in [i for i in self._long_term.records if is_forgotten(RECORDS, i)]:
                self._long_term.records.remove(episode_id)
            self._long_term.book.drop([key for key in self._long_term.book if is_forgotten(GUIDELINES, key)])
            if self._curation is not None:
                self._curation.drop_forgotten(lambda entry_id: is_forgotten(ENTRIES, entry_id), episodes)
        return episodes

    def knows(self, episode_id: str) -> bool:
        """Return whether an ended episode's steps are kept in memory."""
        with self._lock:
            return episode_id in self._long_term.graph

    def start(
        self, instruction: str, task_type: str = "", episode_id: str = "", attempt: int = 1, held_object: str = ""
    ) -> str:
        """Begin an episode and return its id; beginning it again only adds a task type that was not known before.

        held_object: the class of what the hand holds now; empty: nothing.
        """
        with self._lock:
            episode_id = episode_id or self._new_episode_id()
            summary = EpisodeSummary(episode_id, instruction, task_type, self._now_ns(), attempt=attempt)
            if self._episodes.begin(summary, held_object):
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
            warnings = self._episodes.running(step.episode_id).record(step)
            self._log.put_step(step)
            self._learner.note_step(step)
            return warnings

    def end(self, episode_id: str, success: bool | None, message: str = "") -> Future[Lesson] | None:
        """End an episode; its lesson is learnt in the background. None: it had ended already.

        message: why it failed, as the planner sees it. success None means abandoned: nobody said how it went, and
        nothing is learnt from it.

        Raises:
            NotFoundError: the episode is not known.
        """
        with self._lock:
            if self._episodes.has_ended(episode_id):
                return None
            episode = self._episodes.running(episode_id)
            self._episodes.end(episode_id, success)
            summary = episode.ended(success, self._now_ns(), message)
            self._log.put_episode(summary)
        if success is None:
            self._learner.abandon(episode_id)
            return None
        return self._learner.learn(summary, episode.steps, frozenset(episode.given_guidelines))

    def end_abandoned(self, silent_s: float) -> list[str]:
        """End episodes whose client has been silent for so long; return their ids."""
        deadline_ns = self._now_ns() - int(silent_s * 1e9)
        with self._lock:
            silent = self._episodes.silent_since(deadline_ns)
            for episode_id in silent:
                self.end(episode_id, None)
            return silent

    def ask(self, query: ExperienceQuery) -> ExperienceAnswer:
        """Return what experience knows; guidelines of it count as given when a planner acts on them (`note_given`).

        What the query leaves empty is taken from its running episode, or from the one that began last: the task
        type, and the room of the last step.
        """
        with self._lock:
            episode = self._episodes.find(query.episode_id) if query.episode_id else self._episodes.latest()
            if episode is None:
                return answer_to(query, self._long_term, self._config)
            task_type, room = query.task_type or episode.summary.task_type, query.room or episode.room
            answer = answer_to(replace(query, task_type=task_type, room=room), self._long_term, self._config)
            return replace(answer, working_memory=episode.view() if "working" in self._config.parts else None)

    def note_given(self, guideline_keys: Iterable[str], episode_id: str) -> None:
        """Note that a planner acts on these guidelines in a running episode; their counts move when it ends.

        Raises:
            NotFoundError: the episode is not running.
        """
        with self._lock:
            self._episodes.running(episode_id).given_guidelines.update(guideline_keys)

    def advise(self, episode_id: str, action: SkillCall, objects: Sequence[str] = ()) -> tuple[Advice, ...]:
        """Return what to do, or to know, before `action` in a running episode; what holds already is left out.

        objects: the classes that the task is about. Guidelines among the advice count as given.

        Raises:
            NotFoundError: the episode is not running.
        """
        with self._lock:
            return advice_before(action, self._episodes.running(episode_id), objects, self._long_term, self._config)

    def _resume(self, episode_id: str, steps: Sequence[StepRecord]) -> bool:
        """Give an episode that goes on after a restart its earlier steps back, or learn from it; False: neither."""
        unlearnt = self._unlearnt.pop(episode_id, None)
        if unlearnt is not None:
            self._learner.learn(unlearnt, tuple(steps), frozenset())
            return True
        episode = self._episodes.find(episode_id)
        if episode is None:
            return False
        for step in steps:
            episode.record(step)
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
            return episode.view() if episode is not None else None

    @property
    def max_attempts(self) -> int:
        """How often one task may be tried, the first time counted in."""
        return self._config.max_attempts

    def may_retry(self, attempt: int) -> bool:
        """Return whether a failed attempt may be followed by another one."""
        return attempt < self.max_attempts

    def memories(self) -> tuple[MemoryEntry, ...]:
        """Return what the optimizer of memory has written, none where there is no optimizer."""
        return self._curation.entries() if self._curation is not None else ()

    def undo_memory(self) -> bool:
        """Take back what the optimizer wrote last; return whether there was anything to take back."""
        return self._curation is not None and self._curation.undo()

    def forget(self, episode_id: str) -> None:
        """Withdraw an episode from all that was learnt; what only it supported goes with it. A running one is over."""
        with self._lock:
            self._unlearnt.pop(episode_id, None)
            if self._episodes.find(episode_id) is not None:
                self._episodes.end(episode_id, None)
        self._learner.forget(episode_id)

    def figures(self) -> dict[str, int]:
        """Return how much is known, and what became of the lessons, for diagnostics."""
        with self._lock:
            figures = {"episodes.running": len(self._episodes), **self._long_term.figures()}
        return figures | self._learner.figures()

    def guidelines(self) -> tuple[Guideline, ...]:
        """Return every guideline that is kept."""
        with self._lock:
            book = self._long_term.book
            return tuple(book[key] for key in book)

    def wait_settled(self, timeout_s: float) -> bool:
        """Wait until stored episodes are loaded and ended ones learnt; return whether that came to be in time."""
        return self._learner.wait_settled(timeout_s)

    def close(self) -> None:
        """Finish what the rules are learning, then stop; a language model is not waited for."""
        self._learner.close()

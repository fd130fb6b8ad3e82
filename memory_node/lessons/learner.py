"""Draws the lesson of each ended episode in the background: the rules at once, a language model when it is done."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from memory_node.domain.errors import RobotMemoryError
from memory_node.domain.step import EpisodeSummary, StepRecord
from memory_node.lessons.curation import Curation
from memory_node.lessons.extractor import Extractor, Lesson
from memory_node.lessons.log import RECORDS, ExperienceLog, write_guidelines
from memory_node.lessons.long_term import LongTermExperience

logger = logging.getLogger(__name__)


class Learner:
    """Changes long-term experience under its owner's lock.

    extractor: reads each ended episode at once, by rules. curation: of the optimizer of memory, which reads each
    episode last.
    """

    def __init__(
        self,
        long_term: LongTermExperience,
        lock: threading.RLock,
        extractor: Extractor,
        log: ExperienceLog,
        curation: Curation | None = None,
    ) -> None:
        self._curation = curation
        self._long_term = long_term
        self._lock = lock
        self._settled = threading.Condition(lock)
        self._extractor = extractor
        self._log = log
        self._rules = ThreadPoolExecutor(max_workers=1, thread_name_prefix="learner")
        self._to_load = 0
        self._to_learn = 0
        self._closing = threading.Event()

    def load(
        self,
        episodes: Iterable[tuple[str, Sequence[StepRecord]]],
        resume: Callable[[str, Sequence[StepRecord]], bool],
    ) -> Future[int]:
        """Take over stored episodes; resume: takes those that run on across the restart, and returns whether."""
        with self._lock:
            self._to_load += 1
        return self._rules.submit(self._load, episodes, resume)

    def _load(
        self,
        episodes: Iterable[tuple[str, Sequence[StepRecord]]],
        resume: Callable[[str, Sequence[StepRecord]], bool],
    ) -> int:
        count = 0
        try:
            for episode_id, steps in episodes:
                if self._closing.is_set():
                    break
                with self._lock:
                    if episode_id not in self._long_term.graph and not resume(episode_id, steps):
                        self._long_term.add_episode(episode_id, steps)
                        count += 1
        except RobotMemoryError:
            logger.exception("only %d earlier episodes could be read", count)
            raise
        finally:
            with self._settled:
                self._to_load -= 1
                self._settled.notify_all()
        return count

    def learn(self, summary: EpisodeSummary, steps: tuple[StepRecord, ...], given: frozenset[str]) -> Future[Lesson]:
        """Learn from an ended episode in which the guidelines `given` were given; the future is the rules' lesson."""
        with self._lock:
            self._to_learn += 1
        return self._rules.submit(self._learn, summary, steps, given)

    def note_step(self, step: StepRecord) -> None:
        """Take over what a step of a running episode teaches at once."""
        if self._curation is not None:
            self._curation.note_step(step)

    def abandon(self, episode_id: str) -> None:
        """Learn nothing from an episode that is over; what it taught while it ran goes."""
        if self._curation is not None:
            self._curation.end(episode_id)

    def forget(self, episode_id: str) -> None:
        """Withdraw an episode from all that was learnt."""
        with self._lock:
            learnt = self._long_term.forget(episode_id)
        self._log.remove_documents(RECORDS, [episode_id])
        write_guidelines(self._log, learnt.changed, learnt.dropped)
        if self._curation is not None:
            self._curation.forget(episode_id)

    def figures(self) -> dict[str, int]:
        """Return what waits and what became of the model's lessons."""
        with self._lock:
            figures = {"episodes.to_learn": self._to_learn}
        return figures | (self._curation.figures() if self._curation is not None else {})

    def wait_settled(self, timeout_s: float) -> bool:
        """Wait until nothing is left to load or to learn; return whether that came to be in time."""
        until_s = time.monotonic() + timeout_s
        with self._settled:
            if not self._settled.wait_for(lambda: not (self._to_load or self._to_learn), timeout_s):
                return False
        return self._curation is None or self._curation.wait_idle(max(until_s - time.monotonic(), 0.0))

    def close(self) -> None:
        """Finish what the rules are learning, then stop; a language model is not waited for."""
        self._closing.set()
        self._rules.shutdown(wait=True)
        if self._curation is not None:
            self._curation.close()

    def _learn(self, summary: EpisodeSummary, steps: tuple[StepRecord, ...], given: frozenset[str]) -> Lesson:
        try:
            with self._lock:
                # The facts are added first, before any interpretation, so that a second attempt finds them at once.
                self._long_term.add_episode(summary.id, steps)
                counted = self._long_term.count(given, summary)
                earlier = self._long_term.records.of_task(summary.task_type)
            write_guidelines(self._log, counted)
            lesson = self._extractor.extract(summary, steps, earlier)
            self._take(lesson)
            if self._curation is not None:
                self._curation.learn(summary, steps, given)
            return lesson
        except Exception:
            logger.exception("no lesson was drawn from episode %s", summary.id)
            raise
        finally:
            with self._settled:
                self._to_learn -= 1
                self._settled.notify_all()

    def _take(self, lesson: Lesson) -> None:
        with self._lock:
            if lesson.record.episode_id not in self._long_term.graph:
                return  # the episode was forgotten meanwhile, with its lessons
            learnt = self._long_term.take(lesson)
        record = lesson.record
        self._log.put_documents(RECORDS, [(record.episode_id, record.to_dict(), (record.episode_id,))])
        write_guidelines(self._log, learnt.changed, learnt.dropped)

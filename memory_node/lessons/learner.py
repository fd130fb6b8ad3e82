"""Learns from each ended episode in the background: the graph of what was done at once, then the writers of lessons."""

from __future__ import annotations

import contextlib
import logging
import queue
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.errors import RobotMemoryError
from memory_node.domain.process import WorkerThread
from memory_node.domain.step import EpisodeSummary, StepRecord
from memory_node.episodes.past_attempt import ATTEMPTS, PastAttempt, attempt_of_episode
from memory_node.lessons.brainmem import guideline_of, to_prune
from memory_node.lessons.config import ExperienceConfig
from memory_node.lessons.episode_reader import LEAST_SCORE, EpisodeReading, ModelEpisodeReader
from memory_node.lessons.lesson import ExperienceLog, Lesson, write_lessons
from memory_node.lessons.long_term import LongTermExperience
from memory_node.lessons.optimizer.attempt import Attempt, attempt_of
from memory_node.lessons.optimizer.curator import Curator
from memory_node.lessons.plugmem import WRITER, calls_named, shows_how, way_of, way_read, without


class BackgroundWorker:
    """Bounded: with `capacity` jobs waiting no more are taken."""

    def __init__(self, name: str, capacity: int) -> None:
        self._jobs: queue.Queue[Callable[[], None] | None] = queue.Queue(capacity)
        self._closing = threading.Event()
        self._thread = WorkerThread(name, self._work)
        self._thread.start()

    @property
    def closing(self) -> bool:
        """Whether results are no longer wanted."""
        return self._closing.is_set()

    def submit(self, job: Callable[[], None]) -> bool:
        """Queue a job and return at once; False: there is no room for it, or an end to all work."""
        if self.closing:
            return False
        try:
            self._jobs.put_nowait(job)
        except queue.Full:
            return False
        return True

    def close(self, timeout_s: float = 1.0) -> None:
        """Drop what waits; wait a little for the job that runs."""
        self._closing.set()
        with contextlib.suppress(queue.Full):  # the thread looks at `closing` before each job
            self._jobs.put_nowait(None)
        self._thread.join(timeout_s)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None and not self.closing:
            try:
                job()
            except Exception:
                # A job that fails must not take later ones with it.
                logger.exception("a job of %s failed", self._thread.name)


logger = logging.getLogger(__name__)


# Takes over what else an ended episode shows.
OnEnded = Callable[[EpisodeSummary, Sequence[StepRecord]], object]


def learn_nothing(_episode: EpisodeSummary, _steps: Sequence[StepRecord]) -> None:
    """Take nothing over."""


class Learner:
    """Changes long-term experience under its owner's lock.

    kinds: of things. curator: UMEM's writer, which reads each episode last; None: nobody does. A language model
    is asked without the lock, in a thread of its own; with `most_waiting` episodes waiting for it, the next leaves
    nothing. on_ended: is told each ended episode, before lessons are written. reader: PlugMem's structuring by a
    language model; its way takes the place of the one that the rules wrote at once. None: the rules' stays.
    """

    def __init__(
        self,
        long_term: LongTermExperience,
        lock: threading.RLock,
        log: ExperienceLog,
        config: ExperienceConfig,
        kinds: ObjectCatalogue,
        curator: Curator | None = None,
        most_waiting: int = 8,
        on_ended: OnEnded = learn_nothing,
        reader: ModelEpisodeReader | None = None,
    ) -> None:
        self._on_ended, self._reader = on_ended, reader
        self._curator = curator
        self._active = config.active_guidelines
        self._kinds = kinds
        self._long_term = long_term
        self._lock = lock
        self._settled = threading.Condition(lock)
        self._log = log
        self._rules = ThreadPoolExecutor(max_workers=1, thread_name_prefix="learner")
        is_slow = curator is not None and not curator.is_quick
        self._worker = BackgroundWorker("optimizer", most_waiting) if is_slow or reader is not None else None
        self._open = 0  # what is to be loaded, learnt, or read by a language model
        self._closing = threading.Event()

    def load(
        self,
        episodes: Iterable[tuple[str, Sequence[StepRecord]]],
        resume: Callable[[str, Sequence[StepRecord]], bool],
    ) -> Future[int]:
        """Take over stored episodes; resume: takes those that run on across the restart, and returns whether."""
        self._one_more()
        return self._rules.submit(self._load, episodes, resume)

    def learn(self, summary: EpisodeSummary, steps: tuple[StepRecord, ...], given: frozenset[str]) -> Future[None]:
        """Learn from an ended episode in which the lessons `given` were given; the future ends with the rules."""
        self._one_more()
        return self._rules.submit(self._learn, summary, steps, given)

    def note_followed(self, lesson_ids: Iterable[str], step: StepRecord) -> None:
        """Note how a step went that followed lessons; one that does not help again and again is given up."""
        bank = self._long_term.bank
        with self._lock:
            known = [lesson for lesson in map(bank.get, lesson_ids) if lesson is not None]
            source = f"{step.episode_id}:{step.index}"
            left = [bank.note_followed(one.id, step.success, source, step.stamp_ns) for one in known]
        gone = [lesson for lesson, kept in zip(known, left) if kept is None]
        write_lessons(self._log, [lesson for lesson in left if lesson is not None], gone)

    def forget(self, episode_id: str) -> None:
        """Withdraw an episode from all that was learnt."""
        with self._lock:
            put, gone = self._long_term.forget(episode_id)
        self._log.remove_documents(ATTEMPTS, [episode_id])
        write_lessons(self._log, put, gone)

    def figures(self) -> dict[str, int]:
        """Return what waits, and what became of proposals."""
        with self._lock:
            figures = {"episodes.to_learn": self._open}
            figures |= self._reader.figures() if self._reader is not None else {}
            return figures | (self._curator.figures() if self._curator is not None else {})

    def wait_settled(self, timeout_s: float) -> bool:
        """Wait until nothing is left to load or to learn; return whether that came to be in time."""
        with self._settled:
            return self._settled.wait_for(lambda: not self._open, timeout_s)

    def close(self) -> None:
        """Finish what the rules are learning, then stop; a language model is not waited for."""
        self._closing.set()
        self._rules.shutdown(wait=True)
        if self._worker is not None:
            self._worker.close()

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
                    if not resume(episode_id, steps) and episode_id not in self._long_term.graph:
                        self._long_term.add_episode(episode_id, steps)
                        count += 1
        except RobotMemoryError:
            logger.exception("only %d earlier episodes could be read", count)
            raise
        finally:
            self._one_less()
        return count

    def _learn(self, summary: EpisodeSummary, steps: tuple[StepRecord, ...], given: frozenset[str]) -> None:
        try:
            # It takes milliseconds, without the lock; the encoder caches the result.
            self._long_term.bank.encode(summary.instruction)
            attempt = attempt_of_episode(summary, steps)
            with self._lock:
                # The facts come before any interpretation, so that a second attempt finds them at once.
                self._long_term.add_episode(summary.id, steps)
                self._long_term.attempts.add(attempt)
            self._log.put_documents(ATTEMPTS, [(attempt.episode_id, attempt.to_dict(), (attempt.episode_id,))])
            self._on_ended(summary, steps)
            self._write_guideline(attempt)
            self._write_way(summary, steps)
            self._curate(summary, steps, given)
            if self._reader is not None and steps:
                self._ask_later(partial(self._read, self._reader, summary, steps), summary.id)
        except Exception:
            logger.exception("no lesson was drawn from episode %s", summary.id)
            raise
        finally:
            self._one_less()

    def _write_guideline(self, attempt: PastAttempt) -> None:
        """Write what the successes at a kind of task have in common (BrainMem)."""
        with self._lock:
            same = [
                one
                for one in self._long_term.attempts.of_task(attempt.task_type)
                if one.success and shows_how(one.task_type, calls_named(one.done), self._kinds)
            ]
            guideline = guideline_of(same) if attempt.success and attempt.task_type else None
            kept, evicted = self._long_term.renew(guideline) if guideline is not None else (None, None)
            pruned = to_prune(self._long_term.bank, attempt.task_type, attempt.stamp_ns, self._active)
            for lesson in pruned:
                self._long_term.bank.remove(lesson.id)
        write_lessons(self._log, filter(None, [kept]), filter(None, [evicted, *pruned]))

    def _write_way(self, summary: EpisodeSummary, steps: Sequence[StepRecord]) -> None:
        """Write how the instruction was carried out (PlugMem)."""
        way = way_of(summary, steps, self._kinds)
        if way is not None:
            with self._lock:
                kept, evicted = self._long_term.add_way(way)
            write_lessons(self._log, [kept], filter(None, [evicted]))

    def _curate(self, summary: EpisodeSummary, steps: tuple[StepRecord, ...], given: frozenset[str]) -> None:
        """Count the lessons that were given, and let UMEM's writer read the episode."""
        attempt = attempt_of(summary, steps, self._kinds)
        if not attempt.query.strip():
            return
        with self._lock:
            given = self._long_term.acted_on(given, steps)
            if self._curator is None:
                write_lessons(
                    self._log, *self._long_term.bank.note_outcome(attempt.query, float(attempt.success), given)
                )
                return
            shown = self._curator.note(attempt, given)
        take_over = partial(self._take_over, self._curator, attempt, shown)
        if self._curator.is_quick:
            take_over()
        else:
            self._ask_later(take_over, summary.id)

    def _read(self, reader: ModelEpisodeReader, summary: EpisodeSummary, steps: tuple[StepRecord, ...]) -> None:
        """Take over what a language model reads out of an episode: its statements, and its way instead of the rules'.
        One that, by the score, did not do what was asked teaches no way."""
        reading = reader.read(summary, steps)
        if reading is None:
            return
        with self._lock:
            if self._closing.is_set() or summary.id not in self._long_term.graph:
                return  # it was forgotten meanwhile
            reader.keep(reading.statements)
            # Under the lock: whoever forgets the episode next must find it written.
            write_lessons(self._log, *self._with_way(summary, reading))

    def _with_way(self, summary: EpisodeSummary, reading: EpisodeReading) -> tuple[list[Lesson], list[Lesson]]:
        """Put the way of a reading in the place of the rules' one; return the lessons that changed and those that went.
        The lock is held."""
        bank, put, gone = self._long_term.bank, dict[str, Lesson](), dict[str, Lesson]()
        is_done = reading.score >= LEAST_SCORE
        way = way_read(summary, reading.way, reading.intent, self._kinds) if summary.success and is_done else None
        if way is None and is_done:
            return [], []
        for lesson in [one for one in bank if one.writer == WRITER and summary.id in one.episodes]:
            left = without(lesson, summary.id)
            if left is None:
                bank.remove(lesson.id)
                gone[lesson.id] = lesson
            else:
                bank.put(left)
                put[lesson.id] = left
        if way is not None:
            kept, evicted = self._long_term.add_way(way)
            put[kept.id] = kept
            gone.pop(kept.id, None)
            gone |= {evicted.id: evicted} if evicted is not None else {}
        return list(put.values()), list(gone.values())

    def _ask_later(self, job: Callable[[], None], episode_id: str) -> None:
        """Let a job that asks a language model run in the background; where too many wait it is left out."""
        if self._worker is None:
            return
        self._one_more()
        if not self._worker.submit(partial(self._later, job, episode_id)):
            logger.warning("too many attempts wait for the language model: %s leaves nothing", episode_id)
            self._one_less()

    def _later(self, take_over: Callable[[], None], episode_id: str) -> None:
        try:
            take_over()
        except RobotMemoryError:
            logger.exception("attempt %s left nothing", episode_id)
        finally:
            self._one_less()

    def _take_over(self, curator: Curator, attempt: Attempt, shown: Sequence[Lesson]) -> None:
        proposal = curator.propose(attempt, shown)
        with self._lock:
            if self._worker is not None and self._worker.closing:
                return
            if attempt.episode_id in self._long_term.graph:  # else it was forgotten meanwhile
                curator.take_over(attempt, shown, proposal)

    def _one_more(self) -> None:
        with self._lock:
            self._open += 1

    def _one_less(self) -> None:
        with self._settled:
            self._open -= 1
            self._settled.notify_all()

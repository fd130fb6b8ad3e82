"""What all ended episodes left, within bounds: the graph of what was done, the attempts and the bank of lessons. It
learns from each ended episode in the background, and answers for a place and a task."""

from __future__ import annotations

import contextlib
import logging
import queue
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from memory_node.catalogue.label_space import load_catalogue
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.errors import RobotMemoryError
from memory_node.domain.ports import TextEmbedder
from memory_node.domain.process import WorkerThread
from memory_node.domain.step import EpisodeSummary, StepRecord
from memory_node.episodes.class_actions import class_call
from memory_node.episodes.episode_graph import EpisodeGraph, StateKey, Transition
from memory_node.episodes.past_attempt import ATTEMPTS, AttemptIndex, PastAttempt, attempt_of_episode
from memory_node.episodes.working_memory import WorkingMemoryView
from memory_node.lessons import plugmem
from memory_node.lessons.bank import LessonBank
from memory_node.lessons.brainmem import guideline_of, to_prune, utility
from memory_node.lessons.config import ExperienceConfig
from memory_node.lessons.episode_reader import LEAST_SCORE, EpisodeReading, ModelEpisodeReader
from memory_node.lessons.lesson import ExperienceLog, Lesson, write_lessons
from memory_node.lessons.optimizer.attempt import Attempt, attempt_of
from memory_node.lessons.optimizer.curator import Curator

logger = logging.getLogger(__name__)

_HINTS_A_CLASS, _MOST_FAILED = 3, 5
# Attempts at a kind of task for which a failure is recalled.
_ATTEMPTS_RECALLED = 20
# Ended episodes that wait for a language model.
_MOST_WAITING = 8

Value = TypeVar("Value")
# Takes over what else an ended episode shows.
OnEnded = Callable[[EpisodeSummary, Sequence[StepRecord]], object]


@dataclass(frozen=True)
class ExperienceQuery:
    """BrainMem's query: where the robot is, what kind of task it has, in which words, with which objects, and the state
    in which it began (`first`; None: nobody noted it)."""

    room: str = ""
    task_type: str = ""
    objects: tuple[str, ...] = ()
    episode_id: str = ""
    instruction: str = ""
    first: StateKey | None = None


@dataclass(frozen=True)
class ExperienceAnswer:
    """What experience knows for a query; every part may be empty.

    room: the one that it is about.
    """

    room: str
    lessons: tuple[Lesson, ...] = ()
    room_patterns: tuple[tuple[str, int, int], ...] = ()
    experiences: tuple[PastAttempt, ...] = ()
    failed_before: tuple[Transition, ...] = ()
    action_hints: tuple[tuple[str, str, int, int], ...] = ()
    learnt_relations: tuple[tuple[str, int], ...] = ()
    working_memory: WorkingMemoryView | None = None


class _NoWords:
    """Compares no words: lessons are found by what they are about alone."""

    dimension = 1

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return zeros (n, 1)."""
        return np.zeros((len(texts), 1), np.float32)


class LongTermExperience:
    """Episodic and semantic memory. It changes under the lock (`_...` is called with it, or takes it for a moment), and
    what is learnt is in the log.

    kinds: what can be done with classes, by default the household's. curator: UMEM's writer with its bank, which reads
    each episode last; None: nobody does. embedder: compares tasks then; None: lessons are found by what they are about
    alone. A language model is asked without the lock, in a thread of its own; where too many episodes wait for it, the
    next leaves nothing. on_ended: is told each ended episode, before lessons are written. reader: PlugMem's structuring
    by a language model; its way takes the place of the one that the rules wrote at once. None: the rules' stays.
    """

    def __init__(
        self,
        config: ExperienceConfig,
        log: ExperienceLog,
        kinds: ObjectCatalogue | None = None,
        curator: Curator | None = None,
        on_ended: OnEnded | None = None,
        embedder: TextEmbedder | None = None,
        reader: ModelEpisodeReader | None = None,
    ) -> None:
        self.config, self._log, self._kinds = config, log, kinds or load_catalogue()
        self._on_ended, self._curator, self._reader = on_ended, curator, reader
        self._graph, self._attempts = EpisodeGraph(), AttemptIndex()
        self._bank = curator.bank if curator is not None else LessonBank(embedder or _NoWords())
        self._lock = threading.RLock()
        self._settled = threading.Condition(self._lock)
        self._open = 0  # what is to be loaded, learnt, or read by a language model
        self._closing = threading.Event()
        self._rules = ThreadPoolExecutor(max_workers=1, thread_name_prefix="learner")
        self._jobs: queue.Queue[Callable[[], None] | None] = queue.Queue(_MOST_WAITING)
        self._asking = WorkerThread("optimizer", self._ask_model)
        if reader is not None or (curator is not None and not curator.is_quick):
            self._asking.start()

    def _add_episode(self, episode_id: str, steps: Sequence[StepRecord]) -> None:
        """Take over an ended episode's steps, with what its attempt keeps of them."""
        attempt = self._attempts.get(episode_id)
        if attempt is None:
            self._graph.add(episode_id, steps)
        else:
            self._graph.add(episode_id, attempt.with_reasoning(steps), attempt.first_state)
        self._graph.close(episode_id)
        self._keep_newest()

    def _follow(self, episode: EpisodeSummary, steps: Sequence[StepRecord], newest: StepRecord) -> None:
        """Take over a step of a running episode; steps: all so far, as one that comes late is put in its place."""
        if newest is steps[-1] and episode.id in self._graph:
            self._graph.append(episode.id, newest)
        else:
            self._graph.add(episode.id, steps, self._first_state(episode))
        self._keep_newest()

    def _first_state(self, episode: EpisodeSummary) -> StateKey:
        """Return the state in which an episode began."""
        named = self._kinds.spoken_names.named_in(episode.instruction.lower())
        return StateKey.of_start(episode.first, episode.task_type, {name for names in named for name in names})

    def _keep_newest(self) -> None:
        """Let the oldest episodes go beyond the bound."""
        while self._graph.step_count > self.config.graph_steps and self._graph.oldest:
            self._drop(self._graph.oldest)

    def _answer(self, query: ExperienceQuery) -> ExperienceAnswer:
        """Return what is known for a query, of the parts and graphs that the config names."""
        parts, graphs = self.config.parts, self.config.graphs
        lessons = self._lessons_for(query) if "semantic" in parts else ()
        if "episodic" not in parts:
            return ExperienceAnswer(query.room, lessons)
        graph, in_room = self._graph, graphs if query.room else frozenset[str]()
        top_k = self.config.top_k
        similar = self._attempts.similar(query.task_type, query.objects, query.room, top_k, query.first)
        hints = [(name, *hint) for name in query.objects for hint in graph.action_hints(name, _HINTS_A_CLASS)]
        tried = self._attempts.of_task(query.task_type)[-_ATTEMPTS_RECALLED:] if query.task_type else []
        failed = graph.failed_transitions({one.episode_id for one in (*tried, *similar)})[:_MOST_FAILED]
        return ExperienceAnswer(
            query.room,
            lessons,
            room_patterns=tuple(graph.room_patterns(query.room)) if "rooms" in in_room else (),
            experiences=tuple(similar) if "trajectories" in graphs else (),
            failed_before=tuple(failed) if "actions" in graphs else (),
            action_hints=tuple(hints) if "actions" in graphs else (),
            learnt_relations=tuple(graph.learnt_relations(query.room)) if "relations" in in_room else (),
        )

    def _lessons_for(self, query: ExperienceQuery) -> tuple[Lesson, ...]:
        """Return the lessons of related tasks, the nearest first, then those about this kind of task and these things,
        most useful first; at most `active_guidelines`."""
        nearest = self._bank.retrieve(query.instruction, self._bank.limits.related)
        near = {lesson.id for lesson in nearest}
        about = [one for one in self._bank if one.id not in near and not one.situation]
        fitting = [one for one in about if one.applies(query.task_type, query.objects, query.room)]
        newest_ns = max((one.helped_ns for one in fitting), default=0)
        fitting.sort(key=lambda one: (-utility(one, newest_ns), one.id))
        return tuple(islice((*nearest, *fitting), self.config.active_guidelines))

    def _study(self, summary: EpisodeSummary, steps: tuple[StepRecord, ...], given: frozenset[str]) -> Future[None]:
        """Learn from an ended episode in which the lessons `given` were given; the future ends with the rules."""
        return self._soon(partial(self._learn, summary, steps, given), f"no lesson was drawn from episode {summary.id}")

    def _note_followed(self, lesson_ids: Iterable[str], step: StepRecord) -> None:
        """Note how a step went that followed lessons; one that does not help again and again is given up."""
        with self._lock:
            known = [lesson for lesson in map(self._bank.get, lesson_ids) if lesson is not None]
            source = f"{step.episode_id}:{step.index}"
            left = [self._bank.note_followed(one.id, step.success, source, step.stamp_ns) for one in known]
        gone = [lesson for lesson, kept in zip(known, left) if kept is None]
        write_lessons(self._log, [lesson for lesson in left if lesson is not None], gone)

    def forget(self, episode_id: str) -> None:
        """Withdraw an episode from all that was learnt."""
        with self._lock:
            put, gone = self._withdraw(episode_id)
        self._log.remove_documents(ATTEMPTS, [episode_id])
        write_lessons(self._log, put, gone)

    def _withdraw(self, episode_id: str) -> tuple[list[Lesson], list[Lesson]]:
        """Take an episode out of memory, not out of the log; return the lessons that changed and those that went."""
        self._drop(episode_id)
        return self._without_lessons_of(self._bank, episode_id)

    def _drop(self, episode_id: str) -> None:
        self._graph.forget(episode_id)
        self._attempts.remove(episode_id)

    def _without_lessons_of(self, lessons: Iterable[Lesson], episode_id: str) -> tuple[list[Lesson], list[Lesson]]:
        """Take an episode's part out of lessons of the bank; return those that changed and those that went."""
        put, gone = [], []
        for lesson in lessons:
            left = lesson.without(episode_id)
            if left is None:
                self._bank.remove(lesson.id)
                gone.append(lesson)
            elif left != lesson:
                self._bank.put(left)
                put.append(left)
        return put, gone

    def with_reasoning(self, episode_id: str, steps: Sequence[StepRecord]) -> tuple[StepRecord, ...]:
        """Return the stored steps of an episode with why they were chosen, as far as its attempt is known."""
        with self._lock:
            attempt = self._attempts.get(episode_id)
        return attempt.with_reasoning(steps) if attempt is not None else tuple(steps)

    def figures(self) -> dict[str, int]:
        """Return how much is known, what waits, and what became of proposals, for diagnostics."""
        with self._lock:
            figures = {
                "experience.steps": self._graph.step_count,
                "experience.transitions": len(self._graph),
                "experience.attempts": len(self._attempts),
                "experience.lessons": len(self._bank),
                "episodes.to_learn": self._open,
            }
            figures |= self._reader.figures() if self._reader is not None else {}
            return figures | (self._curator.figures() if self._curator is not None else {})

    def lessons(self) -> tuple[Lesson, ...]:
        """Return every written lesson that is kept."""
        with self._lock:
            return tuple(self._bank)

    def ways_to(self, instruction: str, most: int = 2) -> tuple[Lesson, ...]:
        """Return the ways in which like things were done, whatever with; the nearest first."""
        if "semantic" not in self.config.parts:
            return ()
        with self._lock:
            return self._bank.ways_to(plugmem.intent_of(instruction, self._kinds.spoken_names), most)

    def wait_settled(self, timeout_s: float) -> bool:
        """Wait until stored episodes are loaded and ended ones learnt; return whether that came to be in time."""
        with self._settled:
            return self._settled.wait_for(lambda: not self._open, timeout_s)

    def close(self) -> None:
        """Finish what the rules are learning, then stop; a language model is not waited for."""
        self._closing.set()
        self._rules.shutdown(wait=True)
        if self._asking.is_alive():
            with contextlib.suppress(queue.Full):  # the thread looks at `_closing` before each job
                self._jobs.put_nowait(None)
            self._asking.join(1.0)

    def _learn(self, summary: EpisodeSummary, steps: tuple[StepRecord, ...], given: frozenset[str]) -> None:
        # It takes milliseconds, without the lock; the encoder caches the result.
        self._bank.encode(summary.instruction)
        attempt = attempt_of_episode(summary, steps, self._first_state(summary))
        with self._lock:
            # The facts come before any interpretation, so that a second attempt finds them at once.
            self._attempts.add(attempt)
            self._add_episode(summary.id, steps)
        self._log.put_documents(ATTEMPTS, [(attempt.episode_id, attempt.to_dict(), (attempt.episode_id,))])
        if self._on_ended is not None:
            self._on_ended(summary, steps)
        self._write_guideline(attempt)
        with self._lock:
            ways = self._add_way(plugmem.way_of(summary, steps, self._kinds))
        write_lessons(self._log, *ways)
        self._curate(summary, steps, given)
        if self._reader is not None and steps:
            self._ask_later(partial(self._read, self._reader, summary, steps), summary.id)

    def _write_guideline(self, attempt: PastAttempt) -> None:
        """Write what the successes at a kind of task have in common (BrainMem); an earlier one's worth is kept."""
        put, gone = [], []
        with self._lock:
            same = [
                one
                for one in self._attempts.of_task(attempt.task_type)
                if one.success and plugmem.shows_how(one.task_type, plugmem.calls_named(one.done), self._kinds)
            ]
            guideline = guideline_of(same) if attempt.success and attempt.task_type else None
            if guideline is not None:
                known = self._bank.get(guideline.id) or guideline
                kept = replace(
                    guideline,
                    given=known.given,
                    withheld=known.withheld,
                    support=max(known.support, guideline.support),
                    helped_ns=max(known.helped_ns, guideline.helped_ns),
                )
                put, gone = [kept], [self._bank.put(kept)]
            pruned = to_prune(self._bank, attempt.task_type, attempt.stamp_ns, self.config.active_guidelines)
            for lesson in pruned:
                self._bank.remove(lesson.id)
        write_lessons(self._log, put, filter(None, [*gone, *pruned]))

    def _add_way(self, way: Lesson | None) -> tuple[list[Lesson], list[Lesson]]:
        """Add a way, or its part to the equal one; return what is kept, and what went for it. The lock is held."""
        if way is None:
            return [], []
        known = self._bank.get(way.id)
        kept = plugmem.merged(known, way) if known is not None else way
        return [kept], list(filter(None, [self._bank.put(kept)]))

    def _curate(self, summary: EpisodeSummary, steps: tuple[StepRecord, ...], given: frozenset[str]) -> None:
        """Count the lessons that were given, and let UMEM's writer read the episode."""
        attempt = attempt_of(summary, steps, self._kinds)
        if not attempt.query.strip():
            return
        done = [class_call(step.action) for step in steps if step.success]
        with self._lock:
            # A way that no steps followed has not helped.
            ways = (one for one in map(self._bank.get, given) if one is not None and one.writer == plugmem.WRITER)
            given -= {way.id for way in ways if not plugmem.is_followed(way, done)}
            if self._curator is None:
                write_lessons(self._log, *self._bank.note_outcome(attempt.query, float(attempt.success), given))
                return
            shown = self._curator.note(attempt, given)
        take_over = partial(self._take_over, self._curator, attempt, shown)
        if self._curator.is_quick:
            take_over()
        else:
            self._ask_later(take_over, summary.id)

    def _take_over(self, curator: Curator, attempt: Attempt, shown: Sequence[Lesson]) -> None:
        proposal = curator.propose(attempt, shown)
        with self._lock:
            is_late = not curator.is_quick and self._closing.is_set()
            if attempt.episode_id in self._graph and not is_late:  # else it was forgotten meanwhile
                curator.take_over(attempt, shown, proposal)

    def _read(self, reader: ModelEpisodeReader, summary: EpisodeSummary, steps: tuple[StepRecord, ...]) -> None:
        """Take over what a language model reads out of an episode: its statements, and its way instead of the rules'.
        One that, by the score, did not do what was asked teaches no way."""
        reading = reader.read(summary, steps)
        if reading is None:
            return
        with self._lock:
            if self._closing.is_set() or summary.id not in self._graph:
                return  # it was forgotten meanwhile
            reader.keep(reading.statements)
            # Under the lock: whoever forgets the episode next must find it written.
            write_lessons(self._log, *self._with_way(summary, reading))

    def _with_way(self, summary: EpisodeSummary, reading: EpisodeReading) -> tuple[list[Lesson], list[Lesson]]:
        """Put the way of a reading in the place of the rules' one; return the lessons that changed and those that went.
        The lock is held."""
        is_done = reading.score >= LEAST_SCORE
        way = (
            plugmem.way_read(summary, reading.way, reading.intent, self._kinds) if summary.success and is_done else None
        )
        if way is None and is_done:
            return [], []
        put, gone = self._without_lessons_of([one for one in self._bank if one.writer == plugmem.WRITER], summary.id)
        added, evicted = self._add_way(way)
        kept = {one.id: one for one in (*put, *added)}
        return list(kept.values()), [one for one in (*gone, *evicted) if one.id not in kept]

    def _ask_later(self, job: Callable[[], None], episode_id: str) -> None:
        """Let a job that asks a language model run in the background; where too many wait it is left out."""
        with self._lock:
            self._open += 1
        try:
            self._jobs.put_nowait(partial(self._do, job, f"episode {episode_id} left nothing"))
        except queue.Full:
            logger.warning("too many attempts wait for the language model: %s leaves nothing", episode_id)
            self._one_less()

    def _ask_model(self) -> None:
        while (job := self._jobs.get()) is not None and not self._closing.is_set():
            with contextlib.suppress(RobotMemoryError):
                job()

    def _soon(self, job: Callable[[], Value], otherwise: str) -> Future[Value]:
        """Let the rules do a job after those before it. otherwise: what is logged where it fails."""
        with self._lock:
            self._open += 1
        return self._rules.submit(self._do, job, otherwise)

    def _do(self, job: Callable[[], Value], otherwise: str) -> Value:
        try:
            return job()
        except Exception:
            logger.exception(otherwise)
            raise
        finally:
            self._one_less()

    def _one_less(self) -> None:
        with self._settled:
            self._open -= 1
            self._settled.notify_all()

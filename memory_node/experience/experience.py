"""Experience as a whole: episodes run, end and teach; queries get back what was learnt."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol

from memory_node.domain.errors import NotFoundError
from memory_node.domain.ids import IdSource, new_id
from memory_node.domain.step import EpisodeSummary, StepRecord
from memory_node.experience.config import ExperienceConfig
from memory_node.experience.consistency import ConsistencyWarning
from memory_node.experience.episode_graph import EpisodeGraph, Transition
from memory_node.experience.extractor import Extractor, Lesson
from memory_node.experience.guideline import Guideline, GuidelineBook
from memory_node.experience.record import ExperienceRecord
from memory_node.experience.running_episode import RunningEpisode
from memory_node.experience.similarity import RecordIndex
from memory_node.experience.working_memory import WorkingMemoryView

logger = logging.getLogger(__name__)

RECORDS = "experience_record"
GUIDELINES = "guideline"
# So many ended episodes are remembered by id, to answer a repeated EndEpisode.
_ENDED_KEPT = 1000


class ExperienceLog(Protocol):
    """Where experience becomes durable."""

    def put_episode(self, episode: EpisodeSummary) -> None:
        """Keep an episode's summary."""

    def put_step(self, step: StepRecord) -> None:
        """Keep a step."""

    def put_documents(self, kind: str, documents: Sequence[tuple[str, dict[str, Any], tuple[str, ...]]]) -> None:
        """Keep (id, values, ids of the episodes that support it) under a kind."""


@dataclass(frozen=True)
class ExperienceQuery:
    """BrainMem's query: where the robot is, what kind of task it has, with which objects."""

    room: str = ""
    task_type: str = ""
    objects: tuple[str, ...] = ()
    episode_id: str = ""


@dataclass(frozen=True)
class ExperienceAnswer:
    """What experience knows for a query; every part may be empty."""

    guidelines: tuple[Guideline, ...]
    room_patterns: tuple[tuple[str, int, int], ...]
    experiences: tuple[ExperienceRecord, ...]
    failed_before: tuple[Transition, ...]
    action_hints: tuple[tuple[str, str, int, int], ...]
    working_memory: WorkingMemoryView | None


class Experience:
    """Working, episodic and semantic memory; thread-safe. Learning runs in the background, one episode at a time."""

    def __init__(
        self,
        config: ExperienceConfig,
        extractor: Extractor,
        log: ExperienceLog,
        now_ns: Callable[[], int],
        new_episode_id: IdSource = new_id,
    ) -> None:
        self._config = config
        self._extractor = extractor
        self._log = log
        self._now_ns = now_ns
        self._new_episode_id = new_episode_id
        self._lock = threading.RLock()
        self._running: dict[str, RunningEpisode] = {}
        self._ended: dict[str, bool | None] = {}
        self._graph = EpisodeGraph()
        self._records = RecordIndex()
        self._book = GuidelineBook(config)
        self._learner = ThreadPoolExecutor(max_workers=1, thread_name_prefix="learner")

    def load(
        self,
        episodes: Sequence[tuple[str, Sequence[StepRecord]]],
        records: Sequence[dict[str, Any]],
        guidelines: Sequence[dict[str, Any]],
    ) -> None:
        """Take over what the store holds, at start-up."""
        with self._lock:
            for episode_id, steps in episodes:
                self._graph.add(episode_id, steps)
            for values in records:
                self._records.add(ExperienceRecord.from_dict(values))
            self._book.load([Guideline.from_dict(values) for values in guidelines])

    def start(self, instruction: str, task_type: str = "", episode_id: str = "", attempt: int = 1) -> str:
        """Begin an episode and return its id; beginning it again changes nothing."""
        with self._lock:
            episode_id = episode_id or self._new_episode_id()
            if episode_id not in self._running and episode_id not in self._ended:
                summary = EpisodeSummary(episode_id, instruction, task_type, self._now_ns(), attempt=attempt)
                self._running[episode_id] = RunningEpisode(summary, self._config.window)
                self._log.put_episode(summary)
            return episode_id

    def record(self, step: StepRecord) -> tuple[ConsistencyWarning, ...]:
        """Record a step of a running episode; return what was inconsistent about it.

        Raises:
            NotFoundError: the episode is not running.
        """
        with self._lock:
            warnings = self._episode(step.episode_id).record(step)
            self._log.put_step(step)
            return warnings

    def end(self, episode_id: str, success: bool | None, message: str = "") -> Future[Lesson] | None:
        """End an episode; its lesson is learnt in the background. None: it had ended already.

        success None means abandoned: nobody said how it went, so nothing is learnt from it.

        Raises:
            NotFoundError: the episode is not known.
        """
        with self._lock:
            if episode_id in self._ended:
                return None
            episode = self._episode(episode_id)
            del self._running[episode_id]
            self._ended[episode_id] = success
            while len(self._ended) > _ENDED_KEPT:
                del self._ended[next(iter(self._ended))]
            summary = episode.ended(success, self._now_ns())
            self._log.put_episode(summary)
            if success is None:
                return None
        return self._learner.submit(self._learn, summary, episode.steps, frozenset(episode.given_guidelines))

    def end_abandoned(self, silent_s: float) -> list[str]:
        """End episodes whose client has been silent for so long; return their ids."""
        deadline_ns = self._now_ns() - int(silent_s * 1e9)
        with self._lock:
            silent = [i for i, episode in self._running.items() if episode.last_ns < deadline_ns]
            for episode_id in silent:
                self.end(episode_id, None)
            return silent

    def ask(self, query: ExperienceQuery) -> ExperienceAnswer:
        """Return what experience knows; the guidelines count as given to the query's running episode."""
        main_object = query.objects[0] if query.objects else ""
        with self._lock:
            guidelines = tuple(self._book.active(query.task_type, main_object, self._now_ns()))
            episode = self._running.get(query.episode_id)
            if episode is not None:
                episode.given_guidelines.update(guideline.key for guideline in guidelines)
            similar = self._records.similar(query.task_type, query.objects, query.room, self._config.top_k)
            same_task = [record.episode_id for record in similar]
            hints = [(name, *hint) for name in query.objects for hint in self._graph.action_hints(name, 3)]
            return ExperienceAnswer(
                guidelines=guidelines,
                room_patterns=tuple(self._graph.room_patterns(query.room)) if query.room else (),
                experiences=tuple(similar),
                failed_before=tuple(self._graph.failed_transitions(same_task)[:5]),
                action_hints=tuple(hints),
                working_memory=episode.view() if episode is not None else None,
            )

    def working_memory(self, episode_id: str) -> WorkingMemoryView | None:
        """Return a running episode's working memory, or None when it is not running."""
        with self._lock:
            episode = self._running.get(episode_id)
            return episode.view() if episode is not None else None

    def may_retry(self, attempt: int) -> bool:
        """Return whether a failed attempt may be followed by another one."""
        return attempt < self._config.max_attempts

    def close(self) -> None:
        """Finish what is being learnt, then stop."""
        self._learner.shutdown(wait=True)

    def _episode(self, episode_id: str) -> RunningEpisode:
        if episode_id not in self._running:
            state = "has ended" if episode_id in self._ended else "was never started"
            raise NotFoundError(f"episode {episode_id!r} {state}")
        return self._running[episode_id]

    def _learn(self, summary: EpisodeSummary, steps: tuple[StepRecord, ...], given: frozenset[str]) -> Lesson:
        with self._lock:
            earlier = self._records.of_task(summary.task_type)
        try:
            lesson = self._extractor.extract(summary, steps, earlier)
        except Exception:
            logger.exception("nothing was learnt from episode %s", summary.id)
            raise
        with self._lock:
            self._graph.add(summary.id, steps)
            self._records.add(lesson.record)
            changed = self._book.count(given, bool(summary.success), summary.ended_ns)
            changed += [self._book.add(guideline) for guideline in lesson.guidelines]
            self._book.prune(summary.task_type, summary.ended_ns)
            kept = {guideline.key: guideline for guideline in changed if guideline.key in self._book}
        self._log.put_documents(RECORDS, [(summary.id, lesson.record.to_dict(), (summary.id,))])
        self._log.put_documents(GUIDELINES, [(g.key, g.to_dict(), g.episode_ids) for g in kept.values()])
        return lesson

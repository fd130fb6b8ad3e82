"""Experience as a whole: episodes run, end and teach; queries get back what was learnt."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol

from memory_node.domain.advice import Advice, AdviceSource, bind
from memory_node.domain.errors import NotFoundError, RobotMemoryError
from memory_node.domain.ids import IdSource, new_id
from memory_node.domain.skill import SkillCall
from memory_node.domain.step import EpisodeSummary, StepRecord
from memory_node.experience.config import ExperienceConfig
from memory_node.experience.consistency import ConsistencyWarning
from memory_node.experience.episode_graph import EpisodeGraph, Transition
from memory_node.experience.extractor import Extractor, Lesson, RuleExtractor
from memory_node.experience.guideline import Guideline
from memory_node.experience.guideline_book import GuidelineBook
from memory_node.experience.lifting import lifted_call
from memory_node.experience.record import ExperienceRecord
from memory_node.experience.remedy import declared_remedy
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

    def remove_documents(self, kind: str, ids: Sequence[str]) -> None:
        """Drop documents of a kind."""


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
    learnt_relations: tuple[tuple[str, int], ...]
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
        self._waiting = 0
        self._closing = threading.Event()

    def load(self, records: Iterable[dict[str, Any]], guidelines: Iterable[dict[str, Any]]) -> None:
        """Take over what the store holds of semantic memory, at start-up."""
        with self._lock:
            for values in records:
                self._records.add(ExperienceRecord.from_dict(values))
            self._book.load(Guideline.from_dict(values) for values in guidelines)

    def load_episodes(self, episodes: Iterable[tuple[str, Sequence[StepRecord]]]) -> Future[int]:
        """Take over stored episodes, oldest first, in the background: start-up does not wait for a million steps.

        The future tells how many were taken.
        """
        return self._learner.submit(self._load_episodes, episodes)

    def _load_episodes(self, episodes: Iterable[tuple[str, Sequence[StepRecord]]]) -> int:
        count = 0
        try:
            for episode_id, steps in episodes:
                if self._closing.is_set():
                    break
                with self._lock:
                    # What ran on across the restart is not over yet.
                    if episode_id not in self._running and episode_id not in self._graph:
                        self._graph.add(episode_id, steps)
                        self._keep_bounds()
                        count += 1
        except RobotMemoryError:
            logger.exception("only %d earlier episodes could be read", count)
            raise
        return count

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
            self._waiting += 1
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
        """Return what experience knows; the guidelines count as given to the query's running episode.

        What the query leaves empty is taken from its running episode: the task type, and the room of the last step.
        """
        parts = self._config.parts
        with self._lock:
            episode = self._running.get(query.episode_id)
            task_type, room, objects = query.task_type, query.room, query.objects
            if episode is not None:
                task_type = task_type or episode.summary.task_type
                room = room or episode.room
            guidelines = tuple(self._book.active(task_type, objects)) if "semantic" in parts else ()
            if episode is not None:
                episode.given_guidelines.update(guideline.key for guideline in guidelines)
            similar = self._similar(task_type, objects, room)
            episodic = "episodic" in parts
            hints = [(name, *hint) for name in objects for hint in self._graph.action_hints(name, 3)]
            return ExperienceAnswer(
                guidelines=guidelines,
                room_patterns=tuple(self._graph.room_patterns(room)) if room and episodic else (),
                experiences=tuple(similar),
                failed_before=tuple(self._failed_before(similar)[:5]),
                action_hints=tuple(hints) if episodic else (),
                learnt_relations=tuple(self._graph.learnt_relations(room)) if room and episodic else (),
                working_memory=episode.view() if episode is not None and "working" in parts else None,
            )

    def advise(self, episode_id: str, action: SkillCall, objects: Sequence[str] = ()) -> tuple[Advice, ...]:
        """Return what to do, or to know, before `action` in a running episode; what holds already is left out.

        objects: the classes that the task is about. Guidelines among the advice count as given.

        Raises:
            NotFoundError: the episode is not running.
        """
        parts = self._config.parts
        with self._lock:
            episode = self._episode(episode_id)
            advice: list[Advice] = []
            if "working" in parts:
                warnings = episode.warnings_before(action)
                advice += [Advice(AdviceSource.WORKING, str(warning), warning.steps) for warning in warnings]
            if "episodic" in parts:
                advice += self._recalled(self._similar(episode.summary.task_type, tuple(objects), ""), action)
            if "semantic" in parts:
                for guideline in self._book.repairs(episode.summary.task_type, action):
                    episode.given_guidelines.add(guideline.key)
                    advice.append(Advice(AdviceSource.SEMANTIC, guideline.text, guideline.remedy))
            return tuple(a for a in advice if not a.before or not _all_fulfilled(a, action, episode))

    def _similar(self, task_type: str, objects: tuple[str, ...], room: str) -> list[ExperienceRecord]:
        if "episodic" not in self._config.parts:
            return []
        return self._records.similar(task_type, objects, room, self._config.top_k)

    def _failed_before(self, similar: Sequence[ExperienceRecord]) -> list[Transition]:
        return self._graph.failed_transitions([record.episode_id for record in similar])

    def _recalled(self, similar: Sequence[ExperienceRecord], action: SkillCall) -> list[Advice]:
        """Return what the same action failed with in the most similar episodes, and the library's remedy for it."""
        lifted, advice = lifted_call(action), []
        for transition in self._failed_before(similar):
            if transition.call != lifted:
                continue
            for reason, times in transition.reasons.most_common():
                remedy = declared_remedy(action, reason)
                if remedy:
                    text = f"{transition.action} failed {times}x with {reason} in a similar task"
                    advice.append(Advice(AdviceSource.EPISODIC, text, remedy))
        return advice

    def working_memory(self, episode_id: str) -> WorkingMemoryView | None:
        """Return a running episode's working memory, or None when it is not running."""
        with self._lock:
            episode = self._running.get(episode_id)
            return episode.view() if episode is not None else None

    @property
    def max_attempts(self) -> int:
        """How often one task may be tried, the first time counted in."""
        return self._config.max_attempts

    def may_retry(self, attempt: int) -> bool:
        """Return whether a failed attempt may be followed by another one."""
        return attempt < self.max_attempts

    def forget(self, episode_id: str) -> None:
        """Withdraw an ended episode from all that was learnt; what only it supported goes with it."""
        with self._lock:
            self._graph.forget(episode_id)
            self._records.remove(episode_id)
            changed, gone = self._book.forget(episode_id)
        self._log.remove_documents(RECORDS, [episode_id])
        self._log.remove_documents(GUIDELINES, [guideline.key for guideline in gone])
        self._put_guidelines(changed)

    def figures(self) -> dict[str, int]:
        """Return how much is known, for diagnostics."""
        with self._lock:
            return {
                "episodes.running": len(self._running),
                "episodes.to_learn": self._waiting,
                "experience.steps": self._graph.step_count,
                "experience.transitions": len(self._graph),
                "experience.records": len(self._records),
                "experience.guidelines": len(self._book),
            }

    def close(self) -> None:
        """Finish what is being learnt, then stop."""
        self._closing.set()
        self._learner.shutdown(wait=True)

    def _episode(self, episode_id: str) -> RunningEpisode:
        if episode_id not in self._running:
            state = "has ended" if episode_id in self._ended else "was never started"
            raise NotFoundError(f"episode {episode_id!r} {state}")
        return self._running[episode_id]

    def _learn(self, summary: EpisodeSummary, steps: tuple[StepRecord, ...], given: frozenset[str]) -> Lesson:
        with self._lock:
            self._waiting -= 1
            hurried = self._waiting >= self._config.extraction_queue
            earlier = self._records.of_task(summary.task_type)
        # A slow model must not let ended episodes pile up: the rules learn the ones that it has no time for.
        extractor = RuleExtractor() if hurried else self._extractor
        try:
            lesson = extractor.extract(summary, steps, earlier)
        except Exception:
            logger.exception("nothing was learnt from episode %s", summary.id)
            raise
        with self._lock:
            self._graph.add(summary.id, steps)
            self._records.add(lesson.record)
            changed = self._book.count(given, bool(summary.success), summary.ended_ns)
            changed += [self._book.add(guideline) for guideline in lesson.guidelines]
            dropped = self._book.prune(summary.task_type)
            self._keep_bounds()
            kept = {guideline.key: guideline for guideline in changed if guideline.key in self._book}
        self._log.put_documents(RECORDS, [(summary.id, lesson.record.to_dict(), (summary.id,))])
        self._log.remove_documents(GUIDELINES, [guideline.key for guideline in dropped])
        self._put_guidelines(kept.values())
        return lesson

    def _put_guidelines(self, guidelines: Iterable[Guideline]) -> None:
        self._log.put_documents(GUIDELINES, [(g.key, g.to_dict(), g.episode_ids) for g in guidelines])

    def _keep_bounds(self) -> None:
        while self._graph.step_count > self._config.graph_steps and self._graph.oldest:
            oldest = self._graph.oldest
            self._graph.forget(oldest)
            self._records.remove(oldest)


def _all_fulfilled(advice: Advice, action: SkillCall, episode: RunningEpisode) -> bool:
    bound = [bind(call, action) for call in advice.before]
    return all(call is None or episode.fulfils(call) for call in bound)

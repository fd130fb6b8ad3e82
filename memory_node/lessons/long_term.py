"""What all ended episodes taught: the episode graph, the experience records and the guidelines, kept within bounds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from memory_node.domain.advice import Advice, AdviceSource
from memory_node.domain.skill import SkillCall
from memory_node.domain.step import EpisodeSummary, StepRecord
from memory_node.episodes.class_actions import class_call
from memory_node.episodes.episode_graph import EpisodeGraph, Transition
from memory_node.episodes.remedy import declared_remedy
from memory_node.lessons.config import ExperienceConfig
from memory_node.lessons.extractor import Lesson
from memory_node.lessons.guideline import Guideline
from memory_node.lessons.guideline_book import GuidelineBook
from memory_node.lessons.record import ExperienceRecord
from memory_node.lessons.similarity import RecordIndex

# Attempts at a kind of task for which a failure is recalled.
_ATTEMPTS_RECALLED = 20


@dataclass(frozen=True)
class Learnt:
    """What a lesson changed: guidelines as they stand now, and guidelines that had to go."""

    changed: tuple[Guideline, ...]
    dropped: tuple[Guideline, ...]


class LongTermExperience:
    """Episodic and semantic memory; not thread-safe."""

    def __init__(self, config: ExperienceConfig) -> None:
        self._config = config
        self.graph = EpisodeGraph()
        self.records = RecordIndex()
        self.book = GuidelineBook(config)

    def load(self, records: Iterable[dict[str, Any]], guidelines: Iterable[dict[str, Any]]) -> None:
        """Take over stored records and guidelines."""
        for values in records:
            self.records.add(ExperienceRecord.from_dict(values))
        self.book.load(Guideline.from_dict(values) for values in guidelines)

    def add_episode(self, episode_id: str, steps: Sequence[StepRecord]) -> None:
        """Take over an episode's steps; beyond the bound the oldest episodes go."""
        self.graph.add(episode_id, steps)
        while self.graph.step_count > self._config.graph_steps and self.graph.oldest:
            oldest = self.graph.oldest
            self.graph.forget(oldest)
            self.records.remove(oldest)

    def count(self, given: Iterable[str], summary: EpisodeSummary) -> tuple[Guideline, ...]:
        """Move the counts of the guidelines that were given in an ended episode; return them."""
        return tuple(self.book.count(frozenset(given), bool(summary.success), summary.ended_ns))

    def take(self, lesson: Lesson) -> Learnt:
        """Store a lesson, and prune."""
        self.records.add(lesson.record)
        added = [self.book.add(guideline) for guideline in lesson.guidelines]
        dropped = self.book.prune(lesson.record.task_type)
        return Learnt(tuple(g for g in added if g.key in self.book), tuple(dropped))

    def forget(self, episode_id: str) -> Learnt:
        """Withdraw an episode from all that was learnt; what only it supported goes."""
        self.graph.forget(episode_id)
        self.records.remove(episode_id)
        changed, gone = self.book.forget(episode_id)
        return Learnt(tuple(changed), tuple(gone))

    def similar(self, task_type: str, objects: Sequence[str], room: str) -> list[ExperienceRecord]:
        """Return the top-k records most like a query."""
        return self.records.similar(task_type, objects, room, self._config.top_k)

    def failed_before(self, task_type: str, similar: Sequence[ExperienceRecord]) -> list[Transition]:
        """Return what failed when the same task was tried, and in similar episodes; most often failed first."""
        tried = self.records.of_task(task_type)[-_ATTEMPTS_RECALLED:] if task_type else []
        return self.graph.failed_transitions({record.episode_id for record in (*tried, *similar)})

    def recalled(self, task_type: str, similar: Sequence[ExperienceRecord], action: SkillCall) -> list[Advice]:
        """Return what the same action failed with before, and the library's remedy for it."""
        lifted, advice = class_call(action), []
        for transition in self.failed_before(task_type, similar):
            if transition.call != lifted:
                continue
            for reason, times in transition.reasons.most_common():
                remedy = declared_remedy(action, reason)
                if remedy:
                    text = f"{transition.action} failed {times}x with {reason} in a similar task"
                    advice.append(Advice(AdviceSource.EPISODIC, text, remedy))
        return advice

    def figures(self) -> dict[str, int]:
        """Return how much is known."""
        return {
            "experience.steps": self.graph.step_count,
            "experience.transitions": len(self.graph),
            "experience.records": len(self.records),
            "experience.guidelines": len(self.book),
        }

"""Where episodes and lessons become durable, as a protocol."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from memory_node.domain.step import EpisodeSummary, StepRecord
from memory_node.lessons.lesson import Lesson

LESSONS = "lesson"


class ExperienceLog(Protocol):
    """Where episodes and lessons become durable."""

    def put_episode(self, episode: EpisodeSummary) -> None:
        """Keep an episode's summary."""

    def put_step(self, step: StepRecord) -> None:
        """Keep a step."""

    def put_documents(self, kind: str, documents: Sequence[tuple[str, dict[str, Any], tuple[str, ...]]]) -> None:
        """Keep (id, values, ids of the episodes that support it) under a kind."""

    def remove_documents(self, kind: str, ids: Sequence[str]) -> None:
        """Drop documents of a kind."""


class NullLog:
    """Keeps nothing: what is learnt ends with the process."""

    def put_episode(self, episode: EpisodeSummary) -> None:
        """Keep nothing of an episode."""

    def put_step(self, step: StepRecord) -> None:
        """Keep nothing of a step."""

    def put_documents(self, kind: str, documents: Sequence[tuple[str, dict[str, Any], tuple[str, ...]]]) -> None:
        """Keep nothing of documents."""

    def remove_documents(self, kind: str, ids: Sequence[str]) -> None:
        """Have nothing to drop."""


def write_lessons(log: ExperienceLog, put: Iterable[Lesson], gone: Iterable[Lesson] = ()) -> None:
    """Keep lessons as they stand now, each with the episodes that bear it out, and drop others."""
    log.remove_documents(LESSONS, [lesson.id for lesson in gone])
    log.put_documents(LESSONS, [(lesson.id, lesson.to_dict(), lesson.episodes) for lesson in put])

"""Where experience becomes durable, as a protocol."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from memory_node.domain.step import EpisodeSummary, StepRecord
from memory_node.lessons.guideline import Guideline

RECORDS = "experience_record"
GUIDELINES = "guideline"


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


class NullLog:
    """Keeps nothing: experience ends with the process."""

    def put_episode(self, episode: EpisodeSummary) -> None:
        """Keep nothing of an episode."""

    def put_step(self, step: StepRecord) -> None:
        """Keep nothing of a step."""

    def put_documents(self, kind: str, documents: Sequence[tuple[str, dict[str, Any], tuple[str, ...]]]) -> None:
        """Keep nothing of documents."""

    def remove_documents(self, kind: str, ids: Sequence[str]) -> None:
        """Have nothing to drop."""


def write_guidelines(log: ExperienceLog, changed: Iterable[Guideline], dropped: Iterable[Guideline] = ()) -> None:
    """Keep guidelines as they stand now, each with the episodes that support it, and drop others."""
    log.remove_documents(GUIDELINES, [guideline.key for guideline in dropped])
    log.put_documents(GUIDELINES, [(g.key, g.to_dict(), g.episode_ids) for g in changed])

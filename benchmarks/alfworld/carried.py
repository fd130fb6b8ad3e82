"""What goes from game to game: where things usually are, and what attempts taught."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from memory_node.domain.ports import TextEmbedder
from memory_node.domain.step import StepRecord
from memory_node.lessons.config import ExperienceConfig
from memory_node.lessons.experience import Experience
from memory_node.lessons.lesson import ExperienceLog, Lesson
from memory_node.scene_graph.place_habits import PlaceCensus

# Reading what some hundred games taught takes far less.
_LOADING_S = 60.0

Documents = tuple[dict[str, Any], ...]


@dataclass(frozen=True)
class CarriedExperience:
    """What attempts at other games taught, as the store keeps it. episodes: their steps by the episode's id, oldest
    first. ended_ns: when the last of them ended."""

    attempts: Documents = ()
    lessons: Documents = ()
    episodes: tuple[tuple[str, tuple[StepRecord, ...]], ...] = ()
    ended_ns: int = 0

    def known_lessons(self) -> list[Lesson]:
        """Return the lessons."""
        return [Lesson.from_dict(values) for values in self.lessons]

    def experience(
        self,
        log: ExperienceLog,
        now_ns: Callable[[], int],
        embedder: TextEmbedder | None = None,
    ) -> Experience:
        """Return the experience of a robot that has been through these games. log: keeps the episodes from now on;
        embedder: compares instructions."""
        found = Experience(ExperienceConfig(), log, now_ns, embedder=embedder)
        found.load(self.attempts, self.known_lessons())
        found.load_episodes(self.episodes)
        found.wait_settled(_LOADING_S)
        return found


@dataclass(frozen=True)
class Carried:
    """What a game is given. experience: None for places alone."""

    census: PlaceCensus = field(default_factory=PlaceCensus)
    experience: CarriedExperience | None = None

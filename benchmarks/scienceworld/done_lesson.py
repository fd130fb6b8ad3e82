"""What came of a lesson."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.alfworld.play import PlayedGame


@dataclass(frozen=True)
class DoneLesson:
    """A lesson and the share of it that was done, in [0, 1]."""

    game: PlayedGame
    score: float = 0.0

"""What memory gives to a reader of plain sentences, at the beginning of an instruction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import tzinfo

from memory_node.domain.step import Deed, EpisodeSummary
from memory_node.knowledge.told.fact import ToldFact


@dataclass(frozen=True)
class Recalled:
    """facts: every told fact that was read, those that count no longer with the time when they did; tried: what the
    robot did and what failed, the newest last; unfinished: instructions that were begun and did not succeed, the newest
    first; said: earlier ones that say more than what was to be done, the newest last; zone: of days and clock times,
    None for the machine's; asked: the instructions of the newest episodes, by their ids; has_past: whether memory tells
    what the robot did; waiting: an instruction that was asked back about a short time ago, and nobody answered, "" for
    none."""

    facts: tuple[ToldFact, ...] = ()
    tried: tuple[Deed, ...] = ()
    unfinished: tuple[EpisodeSummary, ...] = ()
    said: tuple[str, ...] = ()
    zone: tzinfo | None = None
    asked: Mapping[str, str] = field(default_factory=dict)
    has_past: bool = True
    waiting: str = ""

    @property
    def deeds(self) -> tuple[Deed, ...]:
        """What the robot did."""
        return tuple(deed for deed in self.tried if not deed.reason)

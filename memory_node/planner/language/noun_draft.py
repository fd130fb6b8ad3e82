"""A noun phrase while it is read: its nouns, and what stands before them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from memory_node.domain.states import ObjectState
from memory_node.planner.language.lexicon import Called


@dataclass(frozen=True)
class Noun:
    """One noun of a compound: its words, and the classes or the room that they name."""

    words: str
    called: Called | None = None
    room: str = ""

    @property
    def bare(self) -> bool:
        """Whether it names neither a class nor a room."""
        return not self.called and not self.room


@dataclass
class Draft:
    """A phrase while it is read. fields: those of the noun phrase that are known already."""

    fields: dict[str, Any] = field(default_factory=dict)
    attributes: list[str] = field(default_factory=list)
    states: list[ObjectState] = field(default_factory=list)
    nouns: list[Noun] = field(default_factory=list)

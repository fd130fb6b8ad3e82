"""What is known: propositions about things, and prescriptions for intents, each with its provenance (PlugMem)."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, replace
from typing import Any

from memory_node.domain.errors import InvalidValueError


@dataclass(frozen=True)
class Proposition:
    """A statement that episodes bear out. concepts: the classes and rooms that it is about, its index.

    sources: "episode:index" of each step that showed it; a proposition without a source is not known.
    """

    text: str
    concepts: frozenset[str]
    sources: tuple[str, ...]
    stamp_ns: int = 0

    def __post_init__(self) -> None:
        if not self.text or not self.sources:
            raise InvalidValueError(f"Proposition {self.text!r}: expected a text and at least one source")

    @property
    def support(self) -> int:
        """How many steps bear it out."""
        return len(self.sources)

    def merged(self, other: Proposition) -> Proposition:
        """Return the same statement with the sources of both."""
        sources = tuple(dict.fromkeys((*self.sources, *other.sources)))
        return replace(self, sources=sources, stamp_ns=max(self.stamp_ns, other.stamp_ns))


@dataclass(frozen=True)
class Prescription:
    """A way that has worked. intent: what it is for, in a person's words; actions: skills over classes, in order.

    sources: ids of the episodes in which it worked.
    """

    intent: str
    actions: tuple[str, ...]
    sources: tuple[str, ...]
    stamp_ns: int = 0

    def __post_init__(self) -> None:
        if not self.intent or not self.actions or not self.sources:
            raise InvalidValueError(f"Prescription {self.intent!r}: expected an intent, actions and a source")

    @property
    def key(self) -> str:
        """What makes two prescriptions the same."""
        return f"{self.intent.strip().lower()} -> {'; '.join(self.actions)}"

    def merged(self, other: Prescription) -> Prescription:
        """Return the same way with the sources of both."""
        sources = tuple(dict.fromkeys((*self.sources, *other.sources)))
        return replace(self, sources=sources, stamp_ns=max(self.stamp_ns, other.stamp_ns))


def to_dict(fact: Proposition | Prescription) -> dict[str, Any]:
    """Return plain values for the store."""
    values = dataclasses.asdict(fact)
    return {key: sorted(value) if isinstance(value, frozenset) else value for key, value in values.items()}


def proposition_from_dict(values: dict[str, Any]) -> Proposition:
    """Return the proposition of stored values."""
    return Proposition(values["text"], frozenset(values["concepts"]), tuple(values["sources"]), int(values["stamp_ns"]))


def prescription_from_dict(values: dict[str, Any]) -> Prescription:
    """Return the prescription of stored values."""
    return Prescription(values["intent"], tuple(values["actions"]), tuple(values["sources"]), int(values["stamp_ns"]))

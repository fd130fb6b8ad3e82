"""What is known: propositions about things, and prescriptions for intents, each with its provenance (PlugMem)."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from memory_node.domain.errors import InvalidValueError

# So many of its newest sources a fact names; it counts all.
SOURCES_KEPT = 64


@dataclass(frozen=True)
class Proposition:
    """A statement that episodes bear out. concepts: the classes and rooms that it is about, its index.

    sources: "episode:index" of the newest steps that showed it; a proposition without a source is not known.
    support: how many steps showed it.
    """

    text: str
    concepts: frozenset[str]
    sources: tuple[str, ...]
    stamp_ns: int = 0
    support: int = 0

    def __post_init__(self) -> None:
        if not self.text or not self.sources:
            raise InvalidValueError(f"Proposition {self.text!r}: expected a text and at least one source")
        object.__setattr__(self, "support", max(self.support, len(self.sources)))

    def merged(self, other: Proposition) -> Proposition:
        """Return the same statement with the sources of both."""
        return _merged(self, other)

    def without(self, episode_id: str) -> Proposition | None:
        """Return it without what an episode showed; None when that was all."""
        return _without(self, [source for source in self.sources if source.rpartition(":")[0] != episode_id])


@dataclass(frozen=True)
class Prescription:
    """A way that has worked. intent: what it is for, in a person's words; actions: skills over classes, in order.

    sources: ids of the newest episodes in which it worked. support: in how many it did.
    """

    intent: str
    actions: tuple[str, ...]
    sources: tuple[str, ...]
    stamp_ns: int = 0
    support: int = 0

    def __post_init__(self) -> None:
        if not self.intent or not self.actions or not self.sources:
            raise InvalidValueError(f"Prescription {self.intent!r}: expected an intent, actions and a source")
        object.__setattr__(self, "support", max(self.support, len(self.sources)))

    @property
    def key(self) -> str:
        """What makes two prescriptions the same."""
        return f"{self.intent.strip().lower()} -> {'; '.join(self.actions)}"

    def merged(self, other: Prescription) -> Prescription:
        """Return the same way with the sources of both."""
        return _merged(self, other)

    def without(self, episode_id: str) -> Prescription | None:
        """Return it without an episode; None when it worked in no other."""
        return _without(self, [source for source in self.sources if source != episode_id])


Fact = TypeVar("Fact", Proposition, Prescription)


def _merged(fact: Fact, other: Fact) -> Fact:
    new: list[str] = [source for source in other.sources if source not in fact.sources]
    return replace(
        fact,
        sources=(*fact.sources, *new)[-SOURCES_KEPT:],
        stamp_ns=max(fact.stamp_ns, other.stamp_ns),
        support=fact.support + len(new),
    )


def _without(fact: Fact, left: Sequence[str]) -> Fact | None:
    """Return a fact with the named sources that are left; None: it has none, named or not."""
    support = fact.support - (len(fact.sources) - len(left))
    if support <= 0 or not left:
        return None
    return replace(fact, sources=tuple(left), support=support)


def to_dict(fact: Proposition | Prescription) -> dict[str, Any]:
    """Return plain values for the store."""
    values = dataclasses.asdict(fact)
    return {key: sorted(value) if isinstance(value, frozenset) else value for key, value in values.items()}


def proposition_from_dict(values: dict[str, Any]) -> Proposition:
    """Return the proposition of stored values."""
    concepts, sources = frozenset(values["concepts"]), tuple(values["sources"])
    return Proposition(values["text"], concepts, sources, int(values["stamp_ns"]), int(values.get("support", 0)))


def prescription_from_dict(values: dict[str, Any]) -> Prescription:
    """Return the prescription of stored values."""
    actions, sources = tuple(values["actions"]), tuple(values["sources"])
    return Prescription(values["intent"], actions, sources, int(values["stamp_ns"]), int(values.get("support", 0)))

"""What is known: propositions about things, each with its provenance (PlugMem)."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from dataclasses import dataclass, replace
from typing import Any

from pydantic import TypeAdapter

from memory_node.domain.errors import InvalidValueError
from memory_node.knowledge.told.fact import ToldFact

# What the session of something that was told begins with.
TOLD_SESSION = "told-"
# What read a fact out of its source, where no language model did.
RULES = "rules"
# Most sentences of a proposition (PlugMem).
MOST_SENTENCES = 4
# Newest sources that a fact names; all are counted.
SOURCES_KEPT = 64
# Times of which a statement keeps that it counted then, the newest.
SPANS_KEPT = 16
_LONGEST_KEY = 800  # bytes


@dataclass(frozen=True)
class Proposition:
    """A statement that episodes bear out. concepts: the classes and rooms that it is about, its index.

    text: says it all by itself; where it has a subject it begins with it: "Anna: I like tea", "Laie: It is a town."
    sources: "session:index" of the newest steps that showed it (of an episode: its id and the step's index); a
    proposition without a source is not known. support: how many steps showed it. subject: who said it or what its
    document is about. made_by: what read it out of its source, "rules" or a model's name. active: whether it still
    counts; one that a later statement took the place of is kept, with its sources, and never found. replaced_by: the
    text of the one that did, "" for none. structure: what it says as facts (told.fact.ToldFact, a line of JSON each),
    () where nothing read it. told_by: the person who told it, "" for nobody or one who is not known. spans_ns: when a
    statement with a structure counted before `stamp_ns`, or before it ended: begin and end by turns.
    """

    text: str
    concepts: frozenset[str]
    sources: tuple[str, ...]
    stamp_ns: int = 0
    support: int = 0
    subject: str = ""
    made_by: str = RULES
    active: bool = True
    replaced_by: str = ""
    structure: tuple[str, ...] = ()
    told_by: str = ""
    spans_ns: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if not self.text or not self.sources:
            raise InvalidValueError(f"Proposition {self.text!r}: expected a text and at least one source")
        if len(self.spans_ns) % 2:
            raise InvalidValueError(f"Proposition.spans_ns: expected pairs of stamps, got {self.spans_ns}")
        object.__setattr__(self, "support", max(self.support, len(self.sources)))

    @property
    def key(self) -> str:
        """What names it in the store: the text, or a digest of a long one (a key of PostgreSQL holds 2,704 bytes)."""
        return key_of(self.text)

    @property
    def was_told(self) -> bool:
        """Whether a person told it, by its sources."""
        return any(source.startswith(TOLD_SESSION) for source in self.sources)

    @property
    def teller(self) -> str:
        """Who told it, or what its document is about; "" where nobody is known."""
        return self.told_by or next((fact.teller for fact in self.facts if fact.teller), self.subject)

    @property
    def statement(self) -> str:
        """The text without the subject that it begins with."""
        return self.text.removeprefix(f"{self.subject}: ") if self.subject else self.text

    @property
    def facts(self) -> tuple[ToldFact, ...]:
        """What it says, read."""
        return tuple(map(ToldFact.from_json, self.structure))

    def is_over(self, now_ns: int) -> bool:
        """Return whether all that was read of it was true until before a stamp."""
        facts = self.facts
        return bool(facts) and all(fact.is_over(now_ns) for fact in facts)

    @property
    def facts_before(self) -> tuple[ToldFact, ...]:
        """What it said, each with the time in which it counted before; () where it was taken back."""
        spans = zip(self.spans_ns[::2], self.spans_ns[1::2]) if self.active or self.replaced_by else ()
        return tuple(fact.within(begin, end) for begin, end in spans for fact in self.facts)

    def ended(self, replaced_by: str, stamp_ns: int) -> Proposition:
        """Return it as what counts no longer from a stamp on. replaced_by: the words that ended it."""
        return replace(self, active=False, replaced_by=replaced_by, spans_ns=self._spans_until(stamp_ns))

    def restored(self) -> Proposition:
        """Return it as what counts and has counted all along: what ended it is taken back."""
        begun = self.spans_ns[:-2]
        if self.spans_ns and self.spans_ns[-2] < self.stamp_ns:  # it was told again meanwhile
            begun = (*self.spans_ns[:-1], min(self.spans_ns[-1], self.stamp_ns))
        return replace(self, active=True, replaced_by="", spans_ns=begun)

    def _spans_until(self, stamp_ns: int) -> tuple[int, ...]:
        """Return when it counted, until a stamp; spans that touch are one."""
        if not self.structure or stamp_ns <= self.stamp_ns:
            return self.spans_ns
        if self.spans_ns and self.spans_ns[-1] >= self.stamp_ns:
            return (*self.spans_ns[:-1], max(self.spans_ns[-1], stamp_ns))
        return (*self.spans_ns, self.stamp_ns, stamp_ns)[-2 * SPANS_KEPT :]

    def merged(self, other: Proposition) -> Proposition:
        """Return the same statement with the sources of both, as the other one reads it."""
        new = [source for source in other.sources if source not in self.sources]
        return replace(
            self,
            sources=(*self.sources, *new)[-SOURCES_KEPT:],
            stamp_ns=max(self.stamp_ns, other.stamp_ns),
            support=self.support + len(new),
            structure=other.structure or self.structure,
            told_by=other.told_by or self.told_by,
            spans_ns=self._spans_until(other.stamp_ns) if self.active else self.spans_ns,
        )

    def without(self, episode_id: str) -> Proposition | None:
        """Return it without what an episode showed; None when that was all."""
        left = tuple(source for source in self.sources if source.rpartition(":")[0] != episode_id)
        support = self.support - (len(self.sources) - len(left))
        return replace(self, sources=left, support=support) if support > 0 and left else None


def key_of(text: str) -> str:
    """Return what names a proposition of this text in the store."""
    encoded = text.encode()
    return text if len(encoded) <= _LONGEST_KEY else f"sha256:{hashlib.sha256(encoded).hexdigest()}"


_FIELDS = tuple(field.name for field in dataclasses.fields(Proposition))
_STORED = TypeAdapter(Proposition)


def to_dict(fact: Proposition) -> dict[str, Any]:
    """Return plain values for the store."""
    # dataclasses.asdict() copies every value deeply, which took a fifth of the time of reading a document.
    values = {name: getattr(fact, name) for name in _FIELDS}
    return {key: sorted(value) if isinstance(value, frozenset) else value for key, value in values.items()}


def proposition_from_dict(values: dict[str, Any]) -> Proposition:
    """Return the proposition of stored values; what an older program did not store has its default.

    Raises:
        InvalidValueError: a value is missing or of another type.
    """
    try:
        proposition = _STORED.validate_json(json.dumps(values), strict=True)
    except (TypeError, ValueError) as error:
        raise InvalidValueError(f"Proposition: {error}") from error
    _ = proposition.facts  # what cannot be read is an error of the stored body
    return proposition

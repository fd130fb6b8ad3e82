"""The bank of memories: found by the task that they came from, bounded, and judged by their utility."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.errors import InvalidValueError, NotFoundError
from memory_node.domain.ids import IdSource, new_id
from memory_node.domain.ports import TextEmbedder
from memory_node.lessons.optimizer.attempt import Attempt
from memory_node.lessons.optimizer.candidate import Candidate
from memory_node.lessons.optimizer.entry import MemoryEntry, Version, entry_of
from memory_node.lessons.optimizer.method_note import of_other_things

# Recent outcomes that stand for the tasks before an entry existed.
_OUTCOMES_KEPT = 256


@dataclass(frozen=True)
class BankLimits:
    """How much a bank holds and shows.

    capacity: entries. shown: entries for one task (the paper's K). related: least cosine of two task texts that count
    as related. same: from this cosine on, an addition to a full bank becomes an update. least_trials, least_utility: an
    entry that was shown this often and has a lower utility is withdrawn.
    """

    capacity: int = 300
    shown: int = 3
    related: float = 0.5
    same: float = 0.8
    least_trials: int = 6
    least_utility: float = -0.15

    def __post_init__(self) -> None:
        if self.capacity < 1 or self.shown < 1 or self.least_trials < 1:
            raise InvalidValueError(f"BankLimits: expected positive numbers, got {self}")


@dataclass(frozen=True)
class Change:
    """What a candidate did to the bank. added: the operation as it was carried out, ADD or UPDATE; forced: the bank was
    full, so an addition became an update. spared: an update became an addition, since it would have replaced what is
    known of another thing. evicted: the entry that was dropped for it."""

    entry: MemoryEntry
    added: bool
    forced: bool = False
    spared: bool = False
    evicted: MemoryEntry | None = None


class MemoryBank:
    """Not thread-safe. embedder: of unit vectors; one encoder serves keys, queries and neighbourhoods."""

    def __init__(self, embedder: TextEmbedder, limits: BankLimits | None = None, make_id: IdSource = new_id) -> None:
        self._embedder = embedder
        self._limits = limits or BankLimits()
        self._make_id = make_id
        self._entries: list[MemoryEntry] = []
        # One row more than entries: an entry is added before another one goes.
        self._keys: NDArray[np.float32] = np.zeros((self._limits.capacity + 1, embedder.dimension), np.float32)
        self._outcomes: deque[tuple[NDArray[np.float32], float]] = deque(maxlen=_OUTCOMES_KEPT)

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[MemoryEntry]:
        return iter(tuple(self._entries))

    @property
    def limits(self) -> BankLimits:
        """How much it holds and shows."""
        return self._limits

    @property
    def mean_outcome(self) -> float:
        """The mean outcome of recent tasks, one half before the first."""
        return float(np.mean([outcome for _, outcome in self._outcomes])) if self._outcomes else 0.5

    def get(self, entry_id: str) -> MemoryEntry | None:
        """Return an entry, None when there is none of that id."""
        return next((entry for entry in self._entries if entry.id == entry_id), None)

    def load(self, entries: Iterable[MemoryEntry]) -> None:
        """Take over stored entries; of more than it may hold, the newest."""
        known = sorted(entries, key=lambda entry: entry.versions[-1].stamp_ns)[-self._limits.capacity :]
        vectors = self._embedder.embed([entry.query for entry in known]) if known else ()
        for entry, vector in zip(known, vectors):
            self._put(entry, vector)

    def retrieve(self, query: str) -> tuple[MemoryEntry, ...]:
        """Return the entries whose tasks are nearest to a task, the nearest first; at most `limits.shown`."""
        return self.nearest(self.encode(query)) if self._entries else ()

    def nearest(self, vector: NDArray[np.float32]) -> tuple[MemoryEntry, ...]:
        """Return what `retrieve` does, for a text that is encoded already."""
        scores = self._scores(vector)
        order = np.argsort(-scores, kind="stable")[: self._limits.shown]
        return tuple(self._entries[index] for index in order)

    def encode(self, query: str) -> NDArray[np.float32]:
        """Return the unit vector of a task's text."""
        return np.asarray(self._embedder.embed([query])[0], np.float32)

    def apply(self, candidate: Candidate, shown: Sequence[MemoryEntry], attempt: Attempt, by: str) -> Change:
        """Take a candidate of an attempt over. shown: what its writer saw; UPDATE replaces that entry, and its key,
        unless both are notes and that one is about another thing: then the candidate is added. by: who wrote it.

        Raises:
            NotFoundError: the entry that it replaces is not in the bank any more.
        """
        version = Version(attempt.query, candidate.value, attempt.episode_id, attempt.stamp_ns, attempt.task_type)
        vector = self.encode(attempt.query)
        replaced = None if candidate.replaces is None else shown[candidate.replaces]
        spared = replaced is not None and of_other_things(replaced.value, candidate.value)
        if replaced is not None and not spared:
            return Change(self._reword(replaced.id, version, vector, by), added=False)
        if len(self._entries) < self._limits.capacity:
            return Change(self._add(version, vector, by), added=True, spared=spared)
        scores = self._scores(vector)
        nearest = int(np.argmax(scores))
        if scores[nearest] >= self._limits.same and not spared:
            entry = self._reword(self._entries[nearest].id, version, vector, by)
            return Change(entry, added=False, forced=True)
        worst = min(self._entries, key=self._worth)
        self.remove(worst.id)
        return Change(self._add(version, vector, by), added=True, spared=spared, evicted=worst)

    def note_outcome(self, query: str, outcome: float, given: Collection[str]) -> tuple[MemoryEntry, ...]:
        """Count how a task went for the entries that it was given, and for related ones that it was not.

        Return the entries that this proved bad; they are gone from the bank. outcome: in [0, 1].
        """
        vector = self.encode(query)
        scores = self._scores(vector)
        self._outcomes.append((vector, outcome))
        for index, entry in enumerate(self._entries):
            if entry.id in given:
                self._entries[index] = replace(entry, given=entry.given.plus(outcome))
            elif scores[index] >= self._limits.related:
                self._entries[index] = replace(entry, withheld=entry.withheld.plus(outcome))
        bad = tuple(entry for entry in self._entries if self._is_bad(entry))
        for entry in bad:
            self.remove(entry.id)
        return bad

    def put(self, entry: MemoryEntry) -> None:
        """Put an entry in the place of the one of its id, or add it.

        Raises:
            InvalidValueError: the bank is full, and it is a new one.
        """
        if self.get(entry.id) is None and len(self._entries) >= self._limits.capacity:
            raise InvalidValueError(f"the bank is full with {self._limits.capacity} entries")
        self.remove(entry.id)
        self._put(entry, self.encode(entry.query))

    def remove(self, entry_id: str) -> None:
        """Drop an entry; nothing where there is none."""
        index = next((n for n, entry in enumerate(self._entries) if entry.id == entry_id), None)
        if index is not None:
            del self._entries[index]
            self._keys[index:-1] = self._keys[index + 1 :]

    def copy(self) -> MemoryBank:
        """Return an independent copy, in which a candidate can be tried."""
        other = MemoryBank(self._embedder, self._limits, self._make_id)
        other._entries = list(self._entries)
        other._keys = self._keys.copy()
        other._outcomes = self._outcomes.copy()
        return other

    def _put(self, entry: MemoryEntry, vector: NDArray[np.float32]) -> None:
        self._keys[len(self._entries)] = vector
        self._entries.append(entry)

    def _add(self, version: Version, vector: NDArray[np.float32], by: str) -> MemoryEntry:
        entry = entry_of(self._make_id(), version, by)
        for known, outcome in self._outcomes:
            if float(known @ vector) >= self._limits.related:
                entry = replace(entry, withheld=entry.withheld.plus(outcome))
        self._put(entry, vector)
        return entry

    def _reword(self, entry_id: str, version: Version, vector: NDArray[np.float32], by: str) -> MemoryEntry:
        for index, entry in enumerate(self._entries):
            if entry.id == entry_id:
                self._entries[index] = entry.reworded(version, by)
                self._keys[index] = vector
                return self._entries[index]
        raise NotFoundError(f"entry {entry_id!r} is not in the bank any more")

    def _scores(self, vector: NDArray[np.float32]) -> NDArray[np.float32]:
        return np.asarray(self._keys[: len(self._entries)] @ vector, np.float32)

    def _worth(self, entry: MemoryEntry) -> tuple[float, int]:
        return entry.utility(self.mean_outcome), entry.versions[-1].stamp_ns

    def _is_bad(self, entry: MemoryEntry) -> bool:
        tried = entry.given.trials >= self._limits.least_trials
        return tried and entry.utility(self.mean_outcome) < self._limits.least_utility

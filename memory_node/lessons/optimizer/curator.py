"""Maintains the bank: counts outcomes, lets an optimizer read each attempt, and stores or withdraws entries."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from memory_node.domain.errors import NotFoundError
from memory_node.lessons.optimizer.attempt import Attempt, Deed
from memory_node.lessons.optimizer.bank import Change, MemoryBank
from memory_node.lessons.optimizer.candidate import Candidate, read_candidate
from memory_node.lessons.optimizer.entry import MemoryEntry
from memory_node.lessons.optimizer.method_note import RepairNote
from memory_node.lessons.optimizer.proposal import Optimizer, Proposal
from memory_node.lessons.optimizer.vetting import Vetting
from memory_node.llm.errors import RejectedReplyError

ENTRIES = "memory_entry"
# Lessons that can be undone.
_LESSONS_KEPT = 64


class EntryLog(Protocol):
    """Where entries become durable."""

    def put_documents(self, kind: str, documents: Sequence[tuple[str, dict[str, Any], tuple[str, ...]]]) -> None:
        """Keep (id, values, ids of the episodes that support it) under a kind."""

    def remove_documents(self, kind: str, ids: Sequence[str]) -> None:
        """Drop documents of a kind."""


class NoEntryLog:
    """Keeps nothing: the bank ends with the process."""

    def put_documents(self, kind: str, documents: Sequence[tuple[str, dict[str, Any], tuple[str, ...]]]) -> None:
        """Keep nothing."""

    def remove_documents(self, kind: str, ids: Sequence[str]) -> None:
        """Have nothing to drop."""


@dataclass(frozen=True)
class Noted:
    """An attempt that was counted. shown: what its query retrieves now. counted: entries whose outcomes moved; bad:
    those that were taken back."""

    attempt: Attempt
    shown: tuple[MemoryEntry, ...]
    counted: tuple[MemoryEntry, ...] = ()
    bad: tuple[MemoryEntry, ...] = ()


@dataclass(frozen=True)
class Curated:
    """What a lesson changed. put: entries as they stand now; gone: those that are in the bank no more. change: what the
    candidate did, None where none was taken over; proposal: what the optimizer said."""

    put: tuple[MemoryEntry, ...] = ()
    gone: tuple[MemoryEntry, ...] = ()
    change: Change | None = None
    proposal: Proposal | None = None


class MemoryCurator:
    """Not thread-safe; its owner locks. Every change is in the log when it returns."""

    def __init__(self, bank: MemoryBank, optimizer: Optimizer, vetting: Vetting, log: EntryLog | None = None) -> None:
        self._bank = bank
        self._optimizer = optimizer
        self._vetting = vetting
        self._log = log or NoEntryLog()
        self._lessons: deque[tuple[tuple[str, MemoryEntry | None], ...]] = deque(maxlen=_LESSONS_KEPT)
        self._counts: Counter[str] = Counter()

    @property
    def bank(self) -> MemoryBank:
        """The bank that it keeps."""
        return self._bank

    @property
    def is_quick(self) -> bool:
        """Whether its optimizer answers at once."""
        return self._optimizer.is_quick

    def load(self, entries: Iterable[dict[str, Any]]) -> None:
        """Take over stored entries."""
        self._bank.load(map(MemoryEntry.from_dict, entries))

    def learn(self, attempt: Attempt, given: Collection[str] = ()) -> Curated:
        """Take over what an attempt leaves. given: ids of the entries that it was carried out with."""
        noted = self.note(attempt, given)
        return self.take_over(noted, self.propose(noted))

    def note(self, attempt: Attempt, given: Collection[str] = ()) -> Noted:
        """Count how an attempt went; what that proves bad is taken back."""
        before = {entry.id: entry for entry in self._bank}
        bad = self._bank.note_outcome(attempt.query, float(attempt.success), given)
        self._counts["taken_back"] += len(bad)
        counted = tuple(entry for entry in self._bank if entry != before[entry.id])
        self._write(counted, bad)
        return Noted(attempt, self._bank.retrieve(attempt.query), counted, bad)

    def repairs_at_once(self, deed: Deed) -> tuple[RepairNote, ...]:
        """Return what a failed action of a running attempt teaches at once; see Optimizer."""
        return self._optimizer.repairs_at_once(deed)

    def propose(self, noted: Noted) -> Proposal:
        """Ask the optimizer. It takes as long as its model does, and may be called without the owner's lock."""
        return self._optimizer.propose(noted.attempt, noted.shown)

    def take_over(self, noted: Noted, proposal: Proposal) -> Curated:
        """Take a proposal over where it passes; what the attempt counted for is part of the answer."""
        before = {entry.id: entry for entry in self._bank}
        change = self._taken_over(proposal, noted.attempt, noted.shown)
        evicted = (change.evicted,) if change is not None and change.evicted is not None else ()
        said = (change.entry.id,) if change is not None else ()
        undone = [(key, before.get(key)) for key in said] + [(entry.id, entry) for entry in (*evicted, *noted.bad)]
        if undone:
            self._lessons.append(tuple(undone))
        put = tuple(entry for entry in self._bank if entry != before.get(entry.id))
        self._write(put, evicted)
        counted = tuple(entry for entry in noted.counted if entry.id not in said and entry not in evicted)
        return Curated((*counted, *put), (*evicted, *noted.bad), change, proposal)

    def undo(self) -> Curated:
        """Take the last lesson back: the entry that it wrote is as before, and those that went for it are back."""
        if not self._lessons:
            return Curated()
        put, gone = [], []
        # What it wrote goes first, so that what went for it has room again.
        for key, before in sorted(self._lessons.pop(), key=lambda one: one[1] is not None):
            now = self._bank.get(key)
            if before is not None:
                self._bank.put(before)
                put.append(before)
            elif now is not None:
                self._bank.remove(key)
                gone.append(now)
        self._write(put, gone)
        return Curated(tuple(put), tuple(gone))

    def forget(self, episode_id: str) -> Curated:
        """Withdraw an attempt: each entry with a contribution of it is as it was before. This cannot be undone."""
        self._lessons.clear()
        put, gone = [], []
        for entry in self._bank:
            left = entry.without(episode_id)
            if left is None:
                self._bank.remove(entry.id)
                gone.append(entry)
            elif left != entry:
                self._bank.put(left)
                put.append(left)
        self._write(put, gone)
        return Curated(tuple(put), tuple(gone))

    def drop(self, entry_ids: Iterable[str]) -> Curated:
        """Give entries up that have gone from the log already. It is final."""
        self._lessons.clear()
        gone = [entry for entry in map(self._bank.get, entry_ids) if entry is not None]
        for entry in gone:
            self._bank.remove(entry.id)
        return Curated((), tuple(gone))

    def figures(self) -> dict[str, int]:
        """Return how many entries there are, and what became of proposals."""
        return {"memory.entries": len(self._bank)} | {f"memory.{key}": n for key, n in sorted(self._counts.items())}

    def _taken_over(self, proposal: Proposal, attempt: Attempt, shown: Sequence[MemoryEntry]) -> Change | None:
        if proposal.candidate is None:
            self._counts["nothing_said"] += 1
            return None
        try:
            candidate = vetted(proposal.candidate, attempt, shown, self._vetting)
            change = self._bank.apply(candidate, shown, attempt, self._optimizer.name)
        except RejectedReplyError as error:
            self._counts[f"rejected.{error.reason}"] += 1
            return None
        except NotFoundError:  # a task that ended meanwhile proved the entry bad
            self._counts["rejected.gone"] += 1
            return None
        self._counts["added" if change.added else "updated"] += 1
        self._counts["forced"] += change.forced
        self._counts["spared"] += change.spared
        self._counts["evicted"] += change.evicted is not None
        return change

    def _write(self, put: Sequence[MemoryEntry], gone: Sequence[MemoryEntry]) -> None:
        self._log.remove_documents(ENTRIES, [entry.id for entry in gone])
        self._log.put_documents(ENTRIES, [(entry.id, entry.to_dict(), entry.episode_ids) for entry in put])


def vetted(candidate: Candidate, attempt: Attempt, shown: Sequence[MemoryEntry], vetting: Vetting) -> Candidate:
    """Return a candidate as a reply would have to say it: r_fmt is 1 exactly where this raises nothing.

    Raises:
        RejectedReplyError: it breaks the format, names an entry that was not shown, or says what no memory may.
    """
    read = read_candidate(candidate.text(), len(shown))
    vetting.check(read.value, attempt, [entry.value for entry in shown])
    return read

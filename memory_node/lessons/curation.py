"""Lets the optimizer of memory read each ended episode, and brings what it wrote into the guideline book."""

from __future__ import annotations

import logging
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.errors import RobotMemoryError
from memory_node.domain.step import EpisodeSummary, StepRecord
from memory_node.lessons.background import BackgroundWorker
from memory_node.lessons.guideline import Guideline
from memory_node.lessons.guideline_book import GuidelineBook
from memory_node.lessons.log import ExperienceLog, write_guidelines
from memory_node.lessons.optimizer.attempt import attempt_of, deed_of
from memory_node.lessons.optimizer.curator import Curated, MemoryCurator, Noted
from memory_node.lessons.optimizer.entry import MemoryEntry
from memory_node.lessons.optimizer.written import guidelines_at_once, guidelines_of

_log = logging.getLogger(__name__)
# Called with the task, the episode and the optimizer's text ("" for none), which becomes the advice of prescriptions.
Advise = Callable[[str, str, str], object]


def no_advice(_query: str, _episode_id: str, _value: str) -> None:
    """Tell nobody."""


class Curation:
    """Changes bank and book under `lock`. A language model is asked without it, in a thread of its own.

    kinds: what skills can be done with classes. log: makes guidelines durable. advise: is told what is written of each
    task. most_waiting: with more attempts waiting for a language model, the next leaves nothing.
    """

    def __init__(
        self,
        curator: MemoryCurator,
        book: GuidelineBook,
        lock: threading.RLock,
        kinds: ObjectCatalogue,
        log: ExperienceLog,
        advise: Advise,
        most_waiting: int,
    ) -> None:
        self._curator = curator
        self._book = book
        self._lock = lock
        self._kinds = kinds
        self._log = log
        self._advise = advise
        self._idle = threading.Condition(lock)
        self._worker = None if curator.is_quick else BackgroundWorker("optimizer", most_waiting)
        self._waiting = 0
        self._keys: dict[str, frozenset[str]] = {}  # the guidelines that come from each entry
        self._said_by: defaultdict[str, set[str]] = defaultdict(set)

    def load(self, entries: Iterable[dict[str, Any]]) -> None:
        """Take over stored entries; their guidelines are stored, too."""
        with self._lock:
            self._curator.load(entries)
            for entry in self._curator.bank:
                self._index(entry.id, (one.key for one in guidelines_of(entry, self._kinds)))

    def note_step(self, step: StepRecord) -> None:
        """Bring in what a failed step of a running episode teaches, so that the same failure is not met twice in it.

        It holds until the episode ends; its lesson says it again, for all episodes.
        """
        if step.success:
            return
        repairs = self._curator.repairs_at_once(deed_of(step))
        with self._lock:
            new = [one for one in guidelines_at_once(repairs, step, self._kinds) if one.key not in self._book]
            known = self._keys.get(_running(step.episode_id), frozenset())
            self._index(_running(step.episode_id), {*known, *(one.key for one in new)})
            for guideline in new:
                self._book.add(guideline)

    def end(self, episode_id: str) -> None:
        """Take back what held in a running episode alone."""
        with self._lock:
            self._drop(self._index(_running(episode_id), ()))

    def learn(self, summary: EpisodeSummary, steps: Sequence[StepRecord], given: Iterable[str]) -> None:
        """Take over what an ended episode leaves. given: keys of the guidelines that its planner was given."""
        try:
            self._learn(summary, steps, given)
        finally:
            self.end(summary.id)

    def _learn(self, summary: EpisodeSummary, steps: Sequence[StepRecord], given: Iterable[str]) -> None:
        attempt = attempt_of(summary, steps)
        if not attempt.query.strip():
            return
        self._curator.bank.encode(attempt.query)  # takes milliseconds, without the lock; the encoder caches the result
        with self._lock:
            noted = self._curator.note(attempt, {i for key in given for i in self._said_by.get(key, ())})
        if self._worker is None:
            self._take_over(noted)
            return
        with self._lock:
            self._waiting += 1
        if not self._worker.submit(lambda: self._take_over_later(noted)):
            _log.warning("too many attempts wait for the optimizer: %s leaves nothing", summary.id)
            with self._lock:
                self._bring_in(Curated(noted.counted, noted.bad))
            self._one_less()

    def undo(self) -> bool:
        """Take back what was written last; return whether there was anything."""
        return self._take_back(self._curator.undo)

    def forget(self, episode_id: str) -> None:
        """Withdraw an episode; the book has withdrawn its support already."""
        self.end(episode_id)
        self._take_back(lambda: self._curator.forget(episode_id))

    def drop_forgotten(self, is_forgotten: Callable[[str], bool], episode_ids: Iterable[str]) -> None:
        """Drop what is gone from the store already: entries by their ids, and the parts of forgotten episodes."""
        for episode_id in episode_ids:
            self.forget(episode_id)
        with self._lock:
            gone = [entry.id for entry in self._curator.bank if is_forgotten(entry.id)]
        self._take_back(lambda: self._curator.drop(gone))

    def entries(self) -> tuple[MemoryEntry, ...]:
        """Return what the bank holds."""
        with self._lock:
            return tuple(self._curator.bank)

    def figures(self) -> dict[str, int]:
        """Return how many entries there are, and what became of proposals."""
        with self._lock:
            return self._curator.figures()

    def wait_idle(self, timeout_s: float) -> bool:
        """Wait until no attempt waits for the optimizer; return whether that came to be in time."""
        with self._idle:
            return self._idle.wait_for(lambda: not self._waiting, timeout_s)

    def close(self) -> None:
        """Stop; a language model is not waited for."""
        if self._worker is not None:
            self._worker.close()

    def _take_over_later(self, noted: Noted) -> None:
        try:
            self._take_over(noted)
        except RobotMemoryError:
            _log.exception("attempt %s left nothing", noted.attempt.episode_id)
        finally:
            self._one_less()

    def _take_over(self, noted: Noted) -> None:
        proposal = self._curator.propose(noted)
        with self._lock:
            if self._worker is not None and self._worker.closing:
                return
            curated = self._curator.take_over(noted, proposal)
            self._bring_in(curated)
        if curated.change is not None:
            self._tell(curated.change.entry, curated.change.entry.value)

    def _take_back(self, step: Callable[[], Curated]) -> bool:
        """Carry out an operation that withdraws wordings; return whether there were any. Their prescriptions get the
        valid text."""
        with self._lock:
            before = {entry.id: entry for entry in self._curator.bank}
            curated = step()
            self._bring_in(curated)
        now = {entry.id: entry.value for entry in curated.put}
        for key in (*now, *(entry.id for entry in curated.gone)):
            if key in before:
                self._tell(before[key], now.get(key, ""))
        return bool(curated.put or curated.gone)

    def _tell(self, entry: MemoryEntry, value: str) -> None:
        self._advise(entry.query, entry.versions[-1].episode_id, value)

    def _bring_in(self, curated: Curated) -> None:
        """Write the guidelines of entries into the book, and remove those that no entry contains any more."""
        changed: dict[str, Guideline] = {}
        unsaid: set[str] = set()
        for entry in curated.gone:
            unsaid |= self._index(entry.id, ())
        for entry in curated.put:
            guidelines = guidelines_of(entry, self._kinds)
            unsaid |= self._index(entry.id, (one.key for one in guidelines))
            for guideline in guidelines:
                changed[guideline.key] = self._book.add(guideline)
        write_guidelines(self._log, changed.values(), ())
        self._drop(unsaid)

    def _drop(self, keys: Iterable[str]) -> None:
        """Remove the guidelines among some that nothing says any more."""
        dropped = tuple(self._book[key] for key in keys if key in self._book and not self._said_by.get(key))
        self._book.drop(one.key for one in dropped)
        write_guidelines(self._log, (), dropped)

    def _index(self, entry_id: str, keys: Iterable[str]) -> frozenset[str]:
        """Record the guidelines that come from an entry; return those that came from it before."""
        before = self._keys.pop(entry_id, frozenset())
        for key in before:
            self._said_by[key].discard(entry_id)
        now = frozenset(keys)
        if now:
            self._keys[entry_id] = now
        for key in now:
            self._said_by[key].add(entry_id)
        return before

    def _one_less(self) -> None:
        with self._idle:
            self._waiting -= 1
            self._idle.notify_all()


def _running(episode_id: str) -> str:
    """Return what a running episode is called among the entries that say guidelines."""
    return f"episode|{episode_id}"

"""The ordered log: a background thread that commits in groups, and keeps on in the journal when the database cannot."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from memory_node.domain.errors import InvalidValueError, StoreError
from memory_node.domain.worker_thread import WorkerThread
from memory_node.store.apply import Applier
from memory_node.store.config import StoreConfig
from memory_node.store.engine import for_writing, reason_of
from memory_node.store.errors import RecordRejectedError, StoreBacklogError, StoreUnavailableError
from memory_node.store.journal import Journal
from memory_node.store.records import Batch, Recordable
from memory_node.store.tombstones import Tombstone
from memory_node.store.translate import Translator

_log = logging.getLogger(__name__)

# Records of one frame in the journal: small ones use a nearly full journal up.
_JOURNAL_BATCH = 500


@dataclass(frozen=True)
class WriterDiagnostics:
    """How the log does. state: "ok" or why the database takes nothing now; refused were never taken over."""

    state: str
    pending: int
    oldest_pending_s: float
    journal_batches: int
    journal_used_bytes: int
    journal_capacity_bytes: int
    commits: int
    records: int
    rejected: int
    refused: int
    outages: int
    commit_p50_ms: float
    commit_max_ms: float


class Ticket:
    """A receipt for what append() took over."""

    def __init__(self, writer: LogWriter, sequence: int) -> None:
        self._writer = writer
        self.sequence = sequence
        self.error: StoreError | None = None

    @property
    def durable(self) -> bool:
        """Whether it is committed, or on the disk in the journal."""
        return self._writer.durable_sequence >= self.sequence

    def wait(self, timeout_s: float = 5.0) -> None:
        """Return once it is durable; asks for a commit at once.

        Raises:
            RecordRejectedError: a record of it has no stored form.
            StoreUnavailableError: neither the database nor the journal took it in time; it still waits in memory.
        """
        self._writer.wait_durable(self.sequence, timeout_s)
        if self.error is not None:
            raise self.error


class LogWriter:
    """Takes records in order and makes them durable, at latest `commit_interval_s` after they came."""

    def __init__(
        self,
        engine: Engine,
        translator: Translator,
        journal: Journal,
        config: StoreConfig,
        committed: Callable[[int, Batch], None],
    ) -> None:
        """Committed: told the revision and the rows of each commit, in order."""
        self._engine = engine
        self._translator = translator
        self._journal = journal
        self._config = config
        self._committed = committed
        self._prepare: Callable[[], None] = lambda: None
        self._verify: Callable[[], None] = lambda: None
        self._applier = Applier(translator.origin["site"], translator.origin["robot_id"], self._reject_row)
        self._connection: Connection | None = None
        self._condition = threading.Condition()
        self._pending: deque[tuple[Ticket, Recordable, float]] = deque()
        self._sequence = 0
        self.durable_sequence = 0
        self._urgent_sequence = 0
        self._stopping = False
        self._writing = threading.Lock()
        self._state = "ok"
        self._retry_at = 0.0
        # Neither database nor journal took the oldest group; it is tried again at _retry_at.
        self._stuck = False
        self._owners: dict[tuple[str, tuple[Any, ...]], Ticket] = {}
        self._commits = self._records = self._rejected = self._refused = self._outages = 0
        self._commit_ms: deque[float] = deque(maxlen=512)
        self._thread = WorkerThread("store-writer", self._run)

    def start(self, prepare: Callable[[], None], verify: Callable[[], None], reachable: bool) -> None:
        """Bring what the journal kept into the database, if it can be reached, and start to write.

        prepare: makes the tables ready; called before each attempt after an outage. verify: called before each
        commit, raises OSError when the database is not the one that was opened.
        """
        self._prepare = prepare
        self._verify = verify
        if len(self._journal) or not reachable:
            self._state = "replaying the journal" if reachable else "not reached yet"
            self._recover()
        self._thread.start()

    # -- callers' side ------------------------------------------------------------------------------------------------

    def append(self, records: Sequence[Recordable]) -> Ticket:
        """Take records over, in this order.

        Raises:
            StoreBacklogError: there is no room for them, and none came within `append_timeout_s`.
        """
        now = time.monotonic()
        with self._condition:
            room = self._config.max_pending - len(records)
            if not self._condition.wait_for(
                lambda: len(self._pending) <= room or self._stopping, self._config.append_timeout_s
            ):
                self._refused += len(records)
                raise StoreBacklogError(
                    f"{len(self._pending)} facts wait already (store.max_pending is {self._config.max_pending}; "
                    f"database: {self._state}); nothing of this call was taken over"
                )
            if self._stopping:
                raise StoreUnavailableError("the store is closed")
            self._sequence += len(records)
            ticket = Ticket(self, self._sequence)
            was_empty = not self._pending
            self._pending.extend((ticket, record, now) for record in records)
            if was_empty or len(self._pending) >= self._config.max_batch:
                self._condition.notify_all()
        return ticket

    def wait_durable(self, sequence: int, timeout_s: float) -> None:
        """Return once everything up to `sequence` is durable.

        Raises:
            StoreUnavailableError: it is not within `timeout_s`.
        """
        with self._condition:
            self._urgent_sequence = max(self._urgent_sequence, sequence)
            self._condition.notify_all()
            if not self._condition.wait_for(lambda: self.durable_sequence >= sequence, timeout_s):
                journal = f"{self._journal.used_bytes} of {self._journal.capacity_bytes} bytes"
                raise StoreUnavailableError(
                    f"not durable after {timeout_s:g} s (database: {self._state}; journal: {journal}); "
                    "it still waits in memory"
                )

    def flush(self, timeout_s: float) -> None:
        """Return once everything that was appended so far is durable; raises like wait_durable."""
        self.wait_durable(self._sequence, timeout_s)

    @contextmanager
    def paused(self, timeout_s: float = 30.0) -> Iterator[None]:
        """Hold the writer between two commits.

        Raises:
            StoreUnavailableError: it did not come to rest in time.
        """
        if not self._writing.acquire(timeout=timeout_s):
            raise StoreUnavailableError(f"the writer did not come to rest within {timeout_s:g} s")
        try:
            self._release_connection()
            yield
        finally:
            self._writing.release()

    def close(self, timeout_s: float) -> None:
        """Write what waits and stop; raises StoreUnavailableError when something could not be made durable."""
        try:
            self.flush(timeout_s)
        finally:
            with self._condition:
                self._stopping = True
                self._condition.notify_all()
            self._thread.join(timeout_s)
            self._release_connection()
            self._journal.close()

    @property
    def dead(self) -> Mapping[str, Tombstone]:
        """The tombstones that the last commit met, by digest."""
        return self._applier.dead

    def learn_dead(self) -> None:
        """Take over the tombstones now; only while the writer is paused."""
        with self._engine.connect() as connection:
            self._applier.learn_dead(connection)

    def diagnostics(self) -> WriterDiagnostics:
        """Return how the log does now."""
        with self._condition:
            oldest_s = time.monotonic() - self._pending[0][2] if self._pending else 0.0
            times = sorted(self._commit_ms)
            return WriterDiagnostics(
                state=self._state,
                pending=len(self._pending),
                oldest_pending_s=oldest_s,
                journal_batches=len(self._journal),
                journal_used_bytes=self._journal.used_bytes,
                journal_capacity_bytes=self._journal.capacity_bytes,
                commits=self._commits,
                records=self._records,
                rejected=self._rejected,
                refused=self._refused,
                outages=self._outages,
                commit_p50_ms=times[len(times) // 2] if times else 0.0,
                commit_max_ms=times[-1] if times else 0.0,
            )

    # -- the thread's side --------------------------------------------------------------------------------------------

    def _run(self) -> None:
        while True:
            with self._condition:
                self._await_work()
                if self._stopping:
                    return
                count = min(len(self._pending), self._config.max_batch if self._state == "ok" else _JOURNAL_BATCH)
                taken = list(islice(self._pending, count))
            with self._writing:
                durable = self._turn(taken)
            if taken and durable:
                with self._condition:
                    for _ in range(count):
                        self._pending.popleft()
                    self.durable_sequence += count
                    self._condition.notify_all()

    def _turn(self, taken: list[tuple[Ticket, Recordable, float]]) -> bool:
        try:
            if self._state != "ok" and time.monotonic() >= self._retry_at:
                self._recover()
            return not taken or self._store(taken)
        except Exception as error:
            # The thread's boundary: if it died, every later fact would wait for ever.
            _log.exception("the store's writer met an error that it does not know")
            self._lose(error)
            self._stuck = True
            return False

    def _await_work(self) -> None:
        """Wait until a group is due, or until a database in trouble should be tried again."""
        while not self._stopping:
            now = time.monotonic()
            due = self._retry_at if self._state != "ok" else float("inf")
            if self._pending and not (self._state != "ok" and self._stuck):
                urgent = self._urgent_sequence > self.durable_sequence
                full = len(self._pending) >= self._config.max_batch
                due = now if urgent or full else min(due, self._pending[0][2] + self._patience_s())
            if due <= now:
                return
            self._condition.wait(min(due - now, 3600.0))

    def _patience_s(self) -> float:
        """Return how long a group may gather, so that its commit ends when the interval does."""
        last_s = self._commit_ms[-1] * 1e-3 if self._commit_ms else 0.0
        return max(self._config.commit_interval_s - last_s, 0.2 * self._config.commit_interval_s)

    def _store(self, taken: list[tuple[Ticket, Recordable, float]]) -> bool:
        """Make a group durable; False when neither database nor journal takes it now."""
        tickets = [ticket for ticket, _, _ in taken]

        def reject(position: int, error: InvalidValueError) -> None:
            self._count_rejected(tickets[position], str(error))

        batch, owners = self._translator.batch([record for _, record, _ in taken], reject)
        self._owners = {row: tickets[position] for row, position in owners.items()}
        self._stuck = False
        if self._state == "ok" and self._commit(batch):
            self._records += len(taken)
            return True
        if self._keep(batch):
            self._records += len(taken)
            return True
        # The next attempt translates again, so what was noted as written is not.
        self._translator.forget([record.object.id for _, record, _ in taken if hasattr(record, "object")])
        self._stuck = True
        return False

    def _commit(self, batch: Batch) -> bool:
        started = time.monotonic()
        try:
            self._verify()
            if self._connection is None:
                self._connection = for_writing(self._engine.connect())
            revision = self._applier.apply(self._connection, batch)
        except (sa.exc.SQLAlchemyError, OSError) as error:
            self._lose(error)
            return False
        self._committed(revision, batch)
        self._commits += 1
        self._commit_ms.append((time.monotonic() - started) * 1e3)
        return True

    def _lose(self, error: Exception) -> None:
        reason = reason_of(error)
        if self._state == "ok":
            self._outages += 1
            _log.error(
                "the database takes nothing now (%s); new facts go to the journal %s", reason, self._journal.path
            )
        self._state = reason
        self._retry_at = time.monotonic() + self._config.retry_interval_s
        self._release_connection(invalidate=True)

    def _keep(self, batch: Batch) -> bool:
        try:
            return self._journal.append(batch)
        except (OSError, StoreError) as error:
            _log.error("the journal cannot be written either (%s); facts wait in memory", error)
            return False

    def _recover(self) -> None:
        """Bring the journal's batches into the database, in order; the state tells whether it went."""
        try:
            self._prepare()
            self._journal.open()
        except (sa.exc.SQLAlchemyError, OSError, StoreError) as error:
            self._lose(error)
            return
        replayed = 0
        for batch in self._journal.batches():
            if not self._commit(batch):
                return
            replayed += 1
        # An empty commit shows whether writing works again.
        if replayed == 0 and not self._commit({}):
            return
        try:
            self._journal.clear()
        except OSError as error:
            # The batches are in the database; replaying them again changes nothing.
            _log.error("the journal cannot be cleared (%s)", error)
            self._retry_at = time.monotonic() + self._config.retry_interval_s
            return
        _log.info("the database takes facts again; %d batches came from the journal", replayed)
        self._state = "ok"

    def _reject_row(self, table: str, key: tuple[Any, ...], error: Exception) -> None:
        ticket = self._owners.get((table, key))
        self._count_rejected(ticket, f"{table} {key}: {getattr(error, 'orig', None) or error}")

    def _count_rejected(self, ticket: Ticket | None, why: str) -> None:
        self._rejected += 1
        _log.error("a record was rejected: %s", why)
        if ticket is not None:
            ticket.error = RecordRejectedError(f"a record was rejected: {why}")

    def _release_connection(self, invalidate: bool = False) -> None:
        if self._connection is not None:
            try:
                if invalidate:
                    self._connection.invalidate()
                self._connection.close()
            except (sa.exc.SQLAlchemyError, OSError) as error:
                _log.debug("closing a broken connection: %s", error)
            self._connection = None

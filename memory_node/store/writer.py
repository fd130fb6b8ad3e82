"""The ordered log: a thread that commits in groups, and goes on in the journal when the database takes nothing.

A second thread then tries the database, so that nobody waits for a server that does not answer.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from memory_node.domain.errors import InvalidValueError, StoreError
from memory_node.domain.process import WorkerThread
from memory_node.store.apply import Applier, Tombstone
from memory_node.store.config import StoreConfig
from memory_node.store.engine import PATIENCE_S, for_writing, reason_of, with_quiet_limit
from memory_node.store.errors import RecordRejectedError, StoreUnavailableError
from memory_node.store.journal import Journal
from memory_node.store.records import Batch
from memory_node.store.translate import Translator
from memory_node.store.write_backlog import Ticket, Waiting, WriteBacklog

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
        self._journal_lock = threading.Lock()
        # What callers append to.
        self.backlog = WriteBacklog(config, lambda: self._state, self._journal_filling)
        self._writing = threading.Lock()
        self._state = "ok"
        self._retry_at = 0.0
        # When to try the oldest group again, which neither database nor journal took; 0: it is not stuck.
        self._stuck_until = 0.0
        self._owners: dict[tuple[str, tuple[Any, ...]], Ticket] = {}
        self.commits = self._records = self._rejected = self._outages = 0
        self._commit_ms: deque[float] = deque(maxlen=512)
        self._thread = WorkerThread("store-writer", self._run)
        self._lost = threading.Event()
        self._recovery = WorkerThread("store-recovery", self._recover_when_lost)

    def start(self, prepare: Callable[[], None], verify: Callable[[], None], reachable: bool) -> None:
        """Bring what the journal kept into the database, if it can be reached, and start to write.

        prepare: makes the tables ready; called before each attempt after an outage. verify: called before each
        commit, raises OSError when the database is not the one that was opened.
        """
        self._prepare = prepare
        self._verify = verify
        if not reachable:
            self._state = "not reached yet"
            self._lost.set()
        elif len(self._journal):
            self._state = "replaying the journal"
            self._recover()
        self._thread.start()
        self._recovery.start()

    # -- callers' side ------------------------------------------------------------------------------------------------

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
            self.backlog.flush(timeout_s)
        finally:
            self.backlog.stop()
            self._lost.set()
            self._thread.join(timeout_s)
            # It may wait for a server, for as long as connecting does.
            self._recovery.join(timeout_s)
            self._release_connection()
            self._journal.close()

    def waiting_batches(self) -> list[Batch]:
        """Return what waits in the journal."""
        with self._journal_lock:
            return list(self._journal.batches())

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
        times = sorted(self._commit_ms.copy())  # at once, for the thread appends to it
        return WriterDiagnostics(
            state=self._state,
            pending=len(self.backlog),
            oldest_pending_s=self.backlog.oldest_s,
            journal_batches=len(self._journal),
            journal_used_bytes=self._journal.used_bytes,
            journal_capacity_bytes=self._journal.capacity_bytes,
            commits=self.commits,
            records=self._records,
            rejected=self._rejected,
            refused=self.backlog.refused,
            outages=self._outages,
            commit_p50_ms=times[len(times) // 2] if times else 0.0,
            commit_max_ms=times[-1] if times else 0.0,
        )

    def _journal_filling(self) -> str:
        return f"{self._journal.used_bytes} of {self._journal.capacity_bytes} bytes"

    # -- the thread's side --------------------------------------------------------------------------------------------

    def _run(self) -> None:
        while True:
            self.backlog.await_work(self._due)
            if self.backlog.stopping:
                return
            taken = self.backlog.first(self._config.max_batch if self._state == "ok" else _JOURNAL_BATCH)
            with self._writing:
                durable = self._turn(taken)
            if taken and durable:
                self.backlog.drop(len(taken))

    def _turn(self, taken: list[Waiting]) -> bool:
        try:
            return not taken or self._store(taken)
        except Exception as error:
            # The thread's boundary: if it died, every later fact would wait for ever.
            _log.exception("the store's writer met an error that it does not know")
            if self._state == "ok":
                self._lose(error)
            self._stuck_until = time.monotonic() + self._config.retry_interval_s
            return False

    def _due(self, at_once: bool, oldest: float) -> float:
        """Return when to write a group; one that neither database nor journal took is tried again later."""
        if oldest == float("inf"):
            return oldest
        if self._state != "ok" and self._stuck_until:
            return self._stuck_until
        return 0.0 if at_once else oldest + self._patience_s()

    def _patience_s(self) -> float:
        """Return how long a group may gather, so that its commit ends when the interval does."""
        last_s = self._commit_ms[-1] * 1e-3 if self._commit_ms else 0.0
        return max(self._config.commit_interval_s - last_s, 0.2 * self._config.commit_interval_s)

    def _store(self, taken: list[Waiting]) -> bool:
        """Make a group durable; False when neither database nor journal takes it now."""
        tickets = [ticket for ticket, _, _ in taken]

        def reject(position: int, error: InvalidValueError) -> None:
            self._count_rejected(tickets[position], str(error))

        batch, owners = self._translator.batch([record for _, record, _ in taken], reject)
        self._owners = {row: tickets[position] for row, position in owners.items()}
        self._stuck_until = 0.0
        if self._state == "ok" and self._commit(batch):
            self._records += len(taken)
            return True
        if self._keep(batch):
            self._records += len(taken)
            return True
        # The next attempt translates again, so what was noted as written is not.
        self._translator.forget([record.object.id for _, record, _ in taken if hasattr(record, "object")])
        self._stuck_until = time.monotonic() + self._config.retry_interval_s
        return False

    def _commit(self, batch: Batch) -> bool:
        started = time.monotonic()
        try:
            self._verify()
            if self._connection is None:
                self._connection = with_quiet_limit(for_writing(self._engine.connect()), PATIENCE_S)
            revision = self._applier.apply(self._connection, batch)
        except (sa.exc.SQLAlchemyError, OSError) as error:
            self._lose(error)
            return False
        self._committed(revision, batch)
        self.commits += 1
        self._commit_ms.append((time.monotonic() - started) * 1e3)
        return True

    def _lose(self, error: Exception) -> None:
        reason = reason_of(error)
        if self._state == "ok":
            self._outages += 1
            _log.error(
                "the database takes nothing now (%s); new facts go to the journal %s", reason, self._journal.path
            )
        self._release_connection(invalidate=True)
        self._state = reason
        self._retry_at = time.monotonic() + self._config.retry_interval_s
        self._lost.set()

    def _keep(self, batch: Batch) -> bool:
        try:
            with self._journal_lock:
                return self._journal.append(batch)
        except (OSError, StoreError) as error:
            _log.error("the journal cannot be written either (%s); facts wait in memory", error)
            return False

    # -- the second thread's side: it alone uses the connection while the state is not "ok" ---------------------------

    def _recover_when_lost(self) -> None:
        while not self.backlog.stopping:
            self._lost.wait()
            self._lost.clear()
            while self._state != "ok" and not self.backlog.stopping:
                if not self.backlog.await_stop(max(self._retry_at - time.monotonic(), 0.0)):
                    self._recover()

    def _recover(self) -> None:
        """Bring the journal's batches into the database, in order; the state tells whether it went."""
        try:
            self._prepare()
            with self._journal_lock:
                self._journal.open()
                self._journal.require_own()
        except (sa.exc.SQLAlchemyError, OSError, StoreError) as error:
            self._lose(error)
            return
        replayed = 0
        while True:
            batch = self._waiting_batch(replayed)
            # An empty commit shows whether writing works again; the journal may fill meanwhile.
            if not self._commit(batch if batch is not None else {}):
                return
            replayed += batch is not None
            if self._is_replayed(replayed):
                return

    def _waiting_batch(self, number: int) -> Batch | None:
        with self._journal_lock:
            return next(self._journal.batches(number), None)

    def _is_replayed(self, replayed: int) -> bool:
        """Return whether the recovery ends: all of the journal is in the database, or it cannot be cleared."""
        # Not while the writer adds to it.
        with self._writing, self._journal_lock:
            if replayed < len(self._journal):
                return False
            try:
                self._journal.clear()
            except OSError as error:
                # The batches are in the database; replaying them again changes nothing.
                _log.error("the journal cannot be cleared (%s)", error)
                self._retry_at = time.monotonic() + self._config.retry_interval_s
                return True
            _log.info("the database takes facts again; the journal is empty")
            self._state = "ok"
        self.backlog.wake()
        return True

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

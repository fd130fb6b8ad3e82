"""What was taken over and is not durable yet: callers put records in, the writer's thread takes them out in order."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from itertools import islice

from memory_node.domain.errors import StoreError
from memory_node.store.config import StoreConfig
from memory_node.store.errors import StoreBacklogError, StoreUnavailableError
from memory_node.store.records import Recordable

# The longest that the writer's thread sleeps; nothing depends on it.
_LONGEST_WAIT_S = 3600.0


class Ticket:
    """A receipt for what append() took over."""

    def __init__(self, backlog: WriteBacklog, sequence: int) -> None:
        self._backlog = backlog
        self.sequence = sequence
        self.error: StoreError | None = None

    @property
    def durable(self) -> bool:
        """Whether it is committed, or on the disk in the journal."""
        return self._backlog.durable_sequence >= self.sequence

    def wait(self, timeout_s: float = 5.0) -> None:
        """Return once it is durable; asks for a commit at once.

        Raises:
            RecordRejectedError: a record of it has no stored form.
            StoreUnavailableError: neither the database nor the journal took it in time; it still waits in memory.
        """
        self._backlog.wait_durable(self.sequence, timeout_s)
        if self.error is not None:
            raise self.error


Waiting = tuple[Ticket, Recordable, float]  # with the monotonic time at which it came


class WriteBacklog:
    """Records in the order in which they came, numbered from 1. Safe to use from several threads.

    Args:
        config: how many may wait, and for how long a call waits for room.
        database_state: why the database takes nothing now, for errors.
        journal_filling: how full the journal is, for errors.
    """

    def __init__(
        self, config: StoreConfig, database_state: Callable[[], str], journal_filling: Callable[[], str]
    ) -> None:
        self._config = config
        self._database_state = database_state
        self._journal_filling = journal_filling
        self._condition = threading.Condition()
        self._waiting: deque[Waiting] = deque()
        self._sequence = 0
        self.durable_sequence = 0
        self._urgent_sequence = 0
        self.refused = 0
        self.stopping = False

    def __len__(self) -> int:
        return len(self._waiting)

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
                lambda: len(self._waiting) <= room or self.stopping, self._config.append_timeout_s
            ):
                self.refused += len(records)
                raise StoreBacklogError(
                    f"{len(self._waiting)} facts wait already (store.max_pending is {self._config.max_pending}; "
                    f"database: {self._database_state()}); nothing of this call was taken over"
                )
            if self.stopping:
                raise StoreUnavailableError("the store is closed")
            self._sequence += len(records)
            ticket = Ticket(self, self._sequence)
            was_empty = not self._waiting
            self._waiting.extend((ticket, record, now) for record in records)
            if was_empty or len(self._waiting) >= self._config.max_batch:
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
                raise StoreUnavailableError(
                    f"not durable after {timeout_s:g} s (database: {self._database_state()}; "
                    f"journal: {self._journal_filling()}); it still waits in memory"
                )

    def flush(self, timeout_s: float) -> None:
        """Return once everything that was appended so far is durable; raises like wait_durable."""
        self.wait_durable(self._sequence, timeout_s)

    def wake(self) -> None:
        """Let the writer look anew at what is due."""
        with self._condition:
            self._condition.notify_all()

    def await_stop(self, timeout_s: float) -> bool:
        """Return whether no more is taken, at latest after `timeout_s`."""
        with self._condition:
            return self._condition.wait_for(lambda: self.stopping, timeout_s)

    def stop(self) -> None:
        """Take nothing more; `await_work` returns."""
        with self._condition:
            self.stopping = True
            self._condition.notify_all()

    @property
    def oldest_s(self) -> float:
        """For how long the oldest record has waited, 0 where none waits."""
        with self._condition:
            return time.monotonic() - self._waiting[0][2] if self._waiting else 0.0

    # -- the writer's side --------------------------------------------------------------------------------------------

    def await_work(self, due_of: Callable[[bool, float], float]) -> None:
        """Return when a group is due, or when no more is taken.

        due_of: is asked when something may have changed, with whether a group should be written at once and when the
        oldest record came (infinity: none waits); returns the monotonic time at which there is something to do.
        """
        with self._condition:
            while not self.stopping:
                now = time.monotonic()
                at_once = self._urgent_sequence > self.durable_sequence or len(self._waiting) >= self._config.max_batch
                oldest = self._waiting[0][2] if self._waiting else float("inf")
                due = due_of(at_once, oldest)
                if due <= now:
                    return
                self._condition.wait(min(due - now, _LONGEST_WAIT_S))

    def first(self, count: int) -> list[Waiting]:
        """Return the oldest records, at most `count`; they stay."""
        with self._condition:
            return list(islice(self._waiting, count))

    def drop(self, count: int) -> None:
        """Take out the oldest `count` records: they are durable."""
        with self._condition:
            for _ in range(count):
                self._waiting.popleft()
            self.durable_sequence += count
            self._condition.notify_all()

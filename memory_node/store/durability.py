"""When memory waits for its store: a confirmed change is durable, and an answer is never blocked for long."""

from __future__ import annotations

import contextlib

from memory_node.store.errors import StoreUnavailableError
from memory_node.store.store import Store

# Longest waits for the facts behind an answer to become durable; the shorter one during an outage (s).
_ANSWER_WAIT_S, _OUTAGE_WAIT_S = 2.0, 0.1


class Durability:
    """store: None for a memory without one, which has nothing to wait for."""

    def __init__(self, store: Store | None) -> None:
        self._store = store

    @property
    def has_store(self) -> bool:
        """Whether there is a store to wait for."""
        return self._store is not None

    def commit(self, timeout_s: float = 5.0) -> None:
        """Return once all that memory was told is durable.

        Raises:
            StoreUnavailableError: neither the database nor its journal takes it now; memory holds it all the same.
        """
        if self._store is not None:
            self._store.flush(timeout_s)

    def before_answer(self) -> None:
        """Make the facts behind an answer durable; the answer is given also when the database accepts nothing."""
        if self._store is None:
            return
        wait_s = _ANSWER_WAIT_S if self._store.diagnostics().state == "ok" else _OUTAGE_WAIT_S
        with contextlib.suppress(StoreUnavailableError):  # diagnostics tell of it
            self._store.flush(wait_s)

"""Notices that others changed the store: NOTIFY on PostgreSQL, a look at the site's revision on both."""

from __future__ import annotations

import threading
import time
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Engine

from memory_node.domain.process import RepeatedWork
from memory_node.store import schema
from memory_node.store.apply import channel_of
from memory_node.store.config import StoreConfig
from memory_node.store.engine import connect

# A server that says nothing for so long is away (s).
_QUIET_LIMIT_S = 5.0


class ChangeFeed:
    """Knows up to which revision the caller has seen the store, and tells when there is more.

    Own commits with consecutive revisions are no news; a gap in the revisions is another robot's commit.
    """

    def __init__(self, engine: Engine, site: str, config: StoreConfig) -> None:
        self._engine = engine
        self._site = site
        self._poll_interval_s = config.poll_interval_s
        self._lock = threading.Lock()
        self._seen = -1
        self._signal = threading.Event()
        listen = self._listen if engine.dialect.name == "postgresql" else self._look
        # The writer reports an outage; what was missed is noticed by its revision afterwards.
        errors = (sa.exc.SQLAlchemyError, engine.dialect.loaded_dbapi.Error, OSError)
        self._listening = RepeatedWork("store-feed", listen, (0.0, self._poll_interval_s), errors)

    def start(self) -> None:
        """Begin to listen."""
        self._listening.start()

    def committed(self, revision: int) -> None:
        """Note an own commit."""
        with self._lock:
            if revision == self._seen + 1:
                self._seen = revision

    def seen(self, revision: int) -> None:
        """Note that the caller has everything up to `revision`."""
        with self._lock:
            self._seen = max(self._seen, revision)

    def take_signal(self) -> bool:
        """Return whether others changed something since the last call."""
        signalled = self._signal.is_set()
        self._signal.clear()
        return signalled

    def signal(self) -> None:
        """Make the next take_signal() true."""
        self._signal.set()

    def close(self, timeout_s: float = 5.0) -> None:
        """Stop to listen."""
        self._listening.close(timeout_s)
        self._signal.set()

    def _compare(self, revision: int | None) -> None:
        with self._lock:
            behind = revision is not None and revision > self._seen
        if behind:
            self._signal.set()

    def _look(self) -> None:
        newest = sa.select(schema.sites.c.revision).where(schema.sites.c.name == self._site)
        with self._engine.connect() as connection:
            self._compare(connection.execute(newest).scalar_one_or_none())

    def _listen(self) -> None:
        from psycopg import sql

        with connect(self._engine.url, _QUIET_LIMIT_S, autocommit=True) as connection:
            connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(channel_of(self._site))))
            while not self._listening.is_ending:
                found = connection.execute("SELECT revision FROM sites WHERE name = %s", (self._site,)).fetchone()
                self._compare(None if found is None else found[0])
                self._await_notification(connection)

    def _await_notification(self, connection: Any) -> None:
        """Return at the next notification, or when the revision should be looked at anyway."""
        deadline = time.monotonic() + self._poll_interval_s
        while time.monotonic() < deadline and not self._listening.is_ending:
            # In short waits, for close() must not wait long.
            if any(True for _ in connection.notifies(timeout=0.2, stop_after=1)):
                return

"""Connections to a PostgreSQL server that do not wait for ever: a server that is silent too long counts as away."""

from __future__ import annotations

import time
from collections.abc import Generator
from functools import cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import URL, Connection, Engine

from memory_node.domain.errors import ResourceMissingError
from memory_node.store.address import prepare_threshold

# Of the client's own: to connect, and for a link that broke. Addresses may say otherwise.
_DEFAULTS = {"connect_timeout": 2, "keepalives_idle": 5, "tcp_user_timeout": 5000, "application_name": "robot_memory"}
_QUIET_LIMIT = "quiet_limit_s"
# A server that says nothing for so long while a robot's thread waits for it is away (s).
PATIENCE_S = 1.8
# In the error that says so.
SILENT = "has said nothing"
# How often a wait for the server looks at the clock.
_LOOK_EVERY_S = 0.1


def open_server_engine(url: URL) -> Engine:
    """Return an engine; nothing is connected yet. Options of the address go to libpq, such as sslmode."""
    engine = sa.create_engine(url, creator=lambda: connect(url), pool_size=3)

    @sa.event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        database: Any = connection.connection.driver_connection
        database.quiet_limit_s = connection.get_execution_options().get(_QUIET_LIMIT)

    return engine


def with_quiet_limit(connection: Connection, limit_s: float | None) -> Connection:
    """Return the connection; in its next transactions a server that says nothing for so long counts as away.

    limit_s: None waits for ever. Nothing changes for a SQLite file.
    """
    return connection.execution_options(**{_QUIET_LIMIT: limit_s})


def connect(url: URL, quiet_limit_s: float | None = None, **options: Any) -> Any:
    """Return a psycopg connection; options: of psycopg, besides those of the address."""
    arguments, found = url.get_dialect()().create_connect_args(url)
    named = {**_DEFAULTS, **options, **found, **prepare_threshold(url)}
    connection = _bounded_connection().connect(*arguments, **named)
    connection.quiet_limit_s = quiet_limit_s
    return connection


@cache
def _bounded_connection() -> Any:
    try:
        import psycopg
        from psycopg.waiting import wait_selector
    except ImportError as error:
        raise ResourceMissingError("PostgreSQL needs psycopg: pip install 'robot_memory[fleet]'") from error

    class BoundedConnection(psycopg.Connection[Any]):
        """Ends itself when the server says nothing for `quiet_limit_s` (None: never) while it is waited for.

        The server's own timeouts do not help when its process hangs, and TCP's do not when its host still answers.
        """

        quiet_limit_s: float | None = None

        def wait(self, gen: Any, *arguments: Any, **options: Any) -> Any:
            if self.quiet_limit_s is None:
                return super().wait(gen, *arguments, **options)
            # Not psycopg's compiled loop: that of 3.2.1 does not come back while nothing is ready.
            asked = {"timeout": options["timeout"]} if "timeout" in options else {}  # of notifies, from 3.3 on
            return wait_selector(self._bounded(gen, self.quiet_limit_s), self.pgconn.socket, _LOOK_EVERY_S, **asked)

        def _bounded(self, gen: Any, limit_s: float) -> Generator[Any, Any, Any]:
            """Pass the waiting generator through; it is sent 0 every 0.1 s while nothing is ready."""
            deadline = time.monotonic() + limit_s
            try:
                wanted = next(gen)
                while True:
                    ready = yield wanted
                    now = time.monotonic()
                    if ready:
                        deadline = now + limit_s
                    elif now > deadline:
                        self.pgconn.finish()
                        raise psycopg.OperationalError(f"the server {SILENT} for {limit_s:g} s")
                    wanted = gen.send(ready)
            except StopIteration as end:
                return end.value

    return BoundedConnection

"""Writes one batch into the database: one revision in one transaction; forgotten records are refused."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Connection

from memory_node.store.checksums import SEALS
from memory_node.store.records import Batch, Row
from memory_node.store.schema import LOGGED, sites
from memory_node.store.tombstones import Tombstone, is_buried, read_tombstones

Reject = Callable[[str, tuple[Any, ...], Exception], None]

# PostgreSQL's error classes that are caused by a value, not by the server: data, integrity, program limits.
_VALUE_STATES = ("22", "23", "54")
_VALUE_ERRORS = (sa.exc.DataError, sa.exc.IntegrityError, sa.exc.StatementError, OverflowError, ValueError)
# Messages of sqlite3 and psycopg about a Python type without a column type; their error class is that of an outage.
_BINDING = ("Error binding parameter", "cannot adapt type")


def channel_of(site: str) -> str:
    """Return the NOTIFY channel of a site (an identifier may have 63 bytes and a site's name any)."""
    return "robot_memory_" + hashlib.sha256(site.encode()).hexdigest()[:24]


def is_value_error(error: Exception) -> bool:
    """Return whether a row's values are the cause, so that trying again is useless."""
    if any(words in str(getattr(error, "orig", "")) for words in _BINDING):
        return True
    state = getattr(getattr(error, "orig", None), "sqlstate", None)
    if isinstance(state, str):
        return state.startswith(_VALUE_STATES)
    unavailable = (sa.exc.OperationalError, sa.exc.InterfaceError, sa.exc.InternalError, sa.exc.ProgrammingError)
    if isinstance(error, unavailable) or type(error) is sa.exc.DatabaseError:
        return False
    return isinstance(error, _VALUE_ERRORS)


def _bound_waits(connection: Connection) -> None:
    """Limit how long a robot whose link breaks within a commit holds its site's lock: seconds, not TCP's timeout."""
    if connection.dialect.name == "postgresql":
        limits = {"lock_timeout": "1500ms", "idle_in_transaction_session_timeout": "5s"}
        listed = ", ".join(f"set_config('{name}', '{value}', true)" for name, value in limits.items())
        connection.execute(sa.text(f"SELECT {listed}"))


def next_revision(connection: Connection, site: str) -> int:
    """Return a new revision; its row stays locked until the commit, so revisions appear in their order."""
    raised = sites.update().where(sites.c.name == site)
    raised = raised.values(revision=sites.c.revision + 1, revision_check=sites.c.revision_check - 1)
    return connection.execute(raised.returning(sites.c.revision)).scalar_one()


def notify(connection: Connection, site: str, robot_id: str, revision: int) -> None:
    """Tell the site's other robots, on PostgreSQL, once the transaction is committed."""
    if connection.dialect.name == "postgresql":
        statement = sa.text("SELECT pg_notify(:channel, :payload)")
        connection.execute(statement, {"channel": channel_of(site), "payload": f"{revision} {robot_id}"})


@cache
def _upsert(dialect: str, table: sa.Table) -> Any:
    insert: Any = (postgresql if dialect == "postgresql" else sqlite).insert(table)
    keys = [column.name for column in table.primary_key]
    values = {column.name: insert.excluded[column.name] for column in table.c if column.name not in keys}
    return insert.on_conflict_do_update(index_elements=keys, set_=values)


def upsert_of(connection: Connection, table: sa.Table) -> Any:
    """Return a statement that inserts a row, or puts it in the place of the one with its key."""
    return _upsert(connection.dialect.name, table)


class Applier:
    """Writes batches of one site; not thread-safe, the writer alone uses it."""

    def __init__(self, site: str, robot_id: str, reject: Reject) -> None:
        self._site = site
        self._robot_id = robot_id
        self._reject = reject
        # Tombstones of this site, as of the last batch.
        self.dead: dict[str, Tombstone] = {}
        self._dead_revision = -1

    def apply(self, connection: Connection, batch: Batch) -> int:
        """Write a batch in one transaction and return its revision; rows that cannot be stored are rejected one by one.

        Raises:
            sqlalchemy.exc.DBAPIError: the database cannot take it now; nothing was written.
        """
        try:
            return self._apply(connection, batch, one_by_one=False)
        except (sa.exc.SQLAlchemyError, OverflowError, ValueError) as error:
            # Errors of values are found row by row; the caller handles all others.
            if not is_value_error(error):
                raise
        return self._apply(connection, batch, one_by_one=True)

    def _apply(self, connection: Connection, batch: Batch, one_by_one: bool) -> int:
        with connection.begin():
            _bound_waits(connection)
            revision = next_revision(connection, self._site)
            self.learn_dead(connection)
            for table in LOGGED:
                rows = batch.get(table.name)
                if rows:
                    alive = {key: row for key, row in rows.items() if not is_buried(table.name, row, self.dead)}
                    self._write(connection, table, alive, revision, one_by_one)
            notify(connection, self._site, self._robot_id, revision)
        return revision

    def _write(
        self, connection: Connection, table: sa.Table, rows: dict[tuple[Any, ...], Row], revision: int, one_by_one: bool
    ) -> None:
        statement = upsert_of(connection, table)
        seal = SEALS[table.name].seal
        for row in rows.values():
            row["revision"] = revision
        if not one_by_one:
            if rows:
                connection.execute(statement, [seal(row) for row in rows.values()])
            return
        for key, row in rows.items():
            try:
                with connection.begin_nested():
                    connection.execute(statement, seal(row))
            except (sa.exc.SQLAlchemyError, OverflowError, ValueError) as error:
                if not is_value_error(error):
                    raise
                self._reject(table.name, key, error)

    def learn_dead(self, connection: Connection) -> None:
        """Take over the tombstones that were set since the last time."""
        found = read_tombstones(connection, self._site, self._dead_revision)
        self.dead.update(found)
        self._dead_revision = max((stone.revision for stone in found.values()), default=self._dead_revision)

"""Writes rows: a batch is one revision in one transaction; what was forgotten is refused."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from memory_node.domain.errors import InvalidValueError
from memory_node.store.checksums import SEALS
from memory_node.store.records import Batch, Row, step_key
from memory_node.store.schema import LOGGED, OWNERS, sites, tombstones

_FOR_GOOD = frozenset({"object", "step", "episode"})


def tombstone_of(kind: str, record_id: str) -> str:
    """Return the digest under which a forgotten record is known."""
    return hashlib.sha256(f"{kind}\n{record_id}".encode(errors="surrogatepass")).hexdigest()


@dataclass(frozen=True)
class Tombstone:
    """When something was forgotten: the site's revision, and the clock. It is named by a digest of its id alone."""

    revision: int
    stamp_ns: int


def read_tombstones(connection: Connection, site: str, since_revision: int = -1) -> dict[str, Tombstone]:
    """Return by digest the tombstones that were set after a revision."""
    columns = (tombstones.c.id, tombstones.c.revision, tombstones.c.stamp_ns)
    newer = (tombstones.c.site == site, tombstones.c.revision > since_revision)
    return {
        row.id: Tombstone(row.revision, row.stamp_ns) for row in connection.execute(sa.select(*columns).where(*newer))
    }


def is_buried(table: str, row: Any, dead: Mapping[str, Tombstone]) -> bool:
    """Return whether a row speaks of something forgotten.

    An id of an object, a step or an episode is gone for good; a document may be learned anew from later evidence.
    """
    if not dead:
        return False
    for kind, record_id in references(table, row):
        tombstone = dead.get(tombstone_of(kind, record_id))
        if tombstone is not None and (kind in _FOR_GOOD or row["stamp_ns"] <= tombstone.stamp_ns):
            return True
    return False


def references(table: str, row: Any) -> Iterator[tuple[str, str]]:
    """Yield the (kind, id) of everything without which this row may not exist."""
    for kind, tables in OWNERS.items():
        for column in tables.get(table, ()):
            yield kind, row[column]
    if table == "steps":
        yield "step", step_key(row["episode_id"], row["step_index"])
    elif table == "documents":
        yield row["kind"], row["id"]
    elif table == "supports":
        yield row["source_kind"], row["source_id"]
        yield row["record_kind"], row["record_id"]


# Rows of one statement: PostgreSQL takes 65,535 values.
_MOST_ROWS = 500


def put_rows(connection: Connection, table: sa.Table, rows: Sequence[Row]) -> None:
    """Insert rows, or put them in the place of those with their keys; no two may have one key."""
    _write(connection, table, rows, replace=True)


def add_rows(connection: Connection, table: sa.Table, rows: Sequence[Row]) -> None:
    """Insert the rows whose keys are not present."""
    _write(connection, table, rows, replace=False)


def _write(connection: Connection, table: sa.Table, rows: Sequence[Row], replace: bool) -> None:
    if not rows:
        return
    if connection.dialect.name != "postgresql":
        connection.execute(insert_of(table, replace), rows)
        return
    import psycopg

    names = [column.name for column in table.c]
    with sent_together(connection) as database:
        # With numbered places: psycopg would look for its own in the whole text of a long statement each time.
        cursor = psycopg.RawCursor(database)
        for start in range(0, len(rows), _MOST_ROWS):
            chunk = rows[start : start + _MOST_ROWS]
            values = [row[name] for row in chunk for name in names]
            cursor.execute(_numbered(table, len(chunk), replace), values)


@contextmanager
def sent_together(connection: Connection) -> Iterator[Any]:
    """Give the psycopg connection of a server; statements of the block go to it without waiting for each answer.

    Within another such block it sends nothing by itself. On SQLite it does nothing.

    Raises:
        sqlalchemy.exc.DBAPIError: one of them failed.
    """
    database: Any = connection.connection.driver_connection
    if connection.dialect.name != "postgresql" or database.pgconn.pipeline_status:
        yield database
        return
    import psycopg

    try:
        with database.pipeline():
            yield database
    except psycopg.Error as error:
        if database.closed:
            connection.invalidate(error)
        raise sa.exc.DBAPIError.instance("", (), error, psycopg.Error, dialect=connection.dialect) from error


@lru_cache(maxsize=64)
def _numbered(table: sa.Table, count: int, replace: bool) -> str:
    """Return the SQL of an insert of so many rows; SQLAlchemy would compile it anew each time."""
    width = len(table.c)
    rows = (
        "(" + ", ".join(f"${place}" for place in range(start + 1, start + width + 1)) + ")"
        for start in range(0, count * width, width)
    )
    return _sql(table, ", ".join(rows), replace)


@cache
def insert_of(table: sa.Table, replace: bool = False) -> sa.TextClause:
    """Return an insert of a row. The one with its key stays, or with `replace` goes."""
    return sa.text(_sql(table, "(" + ", ".join(f":{column.name}" for column in table.c) + ")", replace))


def _sql(table: sa.Table, values: str, replace: bool) -> str:
    keys = [column.name for column in table.primary_key]
    others = ", ".join(f'"{c.name}" = excluded."{c.name}"' for c in table.c if c.name not in keys)
    names, key = (", ".join(f'"{name}"' for name in listed) for listed in ([c.name for c in table.c], keys))
    what = f"DO UPDATE SET {others}" if replace else "DO NOTHING"
    return f'INSERT INTO "{table.name}" ({names}) VALUES {values} ON CONFLICT ({key}) {what}'


Reject = Callable[[str, tuple[Any, ...], Exception], None]

# PostgreSQL's error classes that are caused by a value, not by the server: data, integrity, program limits.
_VALUE_STATES = ("22", "23", "54")
_VALUE_ERRORS = (sa.exc.DataError, sa.exc.IntegrityError, sa.exc.StatementError, OverflowError, ValueError)
# How long a robot waits for its site's lock: well below the time after which a silent server counts as away.
LOCK_LIMIT = "1200ms"
# The other one: how long a robot whose link breaks within a commit holds the lock.
_LIMITS = (
    f"SELECT set_config('lock_timeout', '{LOCK_LIMIT}', true), "
    "set_config('idle_in_transaction_session_timeout', '5s', true)"
)
_RAISE = (
    "UPDATE sites SET revision = revision + 1, revision_check = revision_check - 1 WHERE name = %s RETURNING revision"
)
_STONES = "SELECT id, revision, stamp_ns FROM tombstones WHERE site = %s AND revision > %s"
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


def next_revision(connection: Connection, site: str) -> int:
    """Return a new revision; its row stays locked until the commit, so revisions appear in their order."""
    raised = sites.update().where(sites.c.name == site)
    raised = raised.values(revision=sites.c.revision + 1, revision_check=sites.c.revision_check - 1)
    return connection.execute(raised.returning(sites.c.revision)).scalar_one()


def notify(connection: Connection, site: str, robot_id: str, revision: int) -> None:
    """Tell the site's other robots, on PostgreSQL, once the transaction is committed."""
    if connection.dialect.name == "postgresql":
        with sent_together(connection) as database:
            database.execute("SELECT pg_notify(%s, %s)", (channel_of(site), f"{revision} {robot_id}"))


def replay(connection: Connection, site: str, robot_id: str, batches: Iterable[Batch]) -> None:
    """Write what waits in a journal into a copy, which goes without the rows that it cannot store."""
    applier = Applier(site, robot_id, lambda table, key, error: None)
    for batch in batches:
        applier.apply(connection, batch)


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
            revision = self._enter(connection)
            tables = [table for table in LOGGED if batch.get(table.name)]
            rows = {table: self._sealed(table, batch[table.name], revision, one_by_one) for table in tables}
            if one_by_one:
                for table, found in rows.items():
                    self._write_each(connection, table, found)
                notify(connection, self._site, self._robot_id, revision)
            else:
                with sent_together(connection):
                    for table, found in rows.items():
                        put_rows(connection, table, list(found.values()))
                    notify(connection, self._site, self._robot_id, revision)
        return revision

    def _sealed(
        self, table: sa.Table, rows: dict[tuple[Any, ...], Row], revision: int, one_by_one: bool
    ) -> dict[tuple[Any, ...], Row]:
        """Return the rows that are not forgotten, with their revision and their checksum."""
        seal = SEALS[table.name].seal
        alive: dict[tuple[Any, ...], Row] = {}
        for key, row in rows.items():
            if not is_buried(table.name, row, self.dead):
                row["revision"] = revision
                try:
                    alive[key] = seal(row)
                except InvalidValueError as error:
                    if not one_by_one:
                        raise
                    self._reject(table.name, key, error)
        return alive

    def _write_each(self, connection: Connection, table: sa.Table, rows: dict[tuple[Any, ...], Row]) -> None:
        for key, row in rows.items():
            try:
                with connection.begin_nested():
                    put_rows(connection, table, [row])
            except (sa.exc.SQLAlchemyError, OverflowError, ValueError) as error:
                if not is_value_error(error):
                    raise
                self._reject(table.name, key, error)

    def _enter(self, connection: Connection) -> int:
        """Take the site's lock, learn what was forgotten, and return a new revision."""
        if connection.dialect.name != "postgresql":
            self.learn_dead(connection)
            return next_revision(connection, self._site)
        with sent_together(connection) as database:
            database.execute(_LIMITS)
            raised = database.execute(_RAISE, (self._site,))
            stones = database.execute(_STONES, (self._site, self._dead_revision))
        found = raised.fetchone()
        if found is None:
            raise sa.exc.NoResultFound(f"the database has no site {self._site!r}")
        self._bury({digest: Tombstone(revision, stamp_ns) for digest, revision, stamp_ns in stones.fetchall()})
        return int(found[0])

    def learn_dead(self, connection: Connection) -> None:
        """Take over the tombstones that were set since the last time."""
        self._bury(read_tombstones(connection, self._site, self._dead_revision))

    def _bury(self, found: dict[str, Tombstone]) -> None:
        self.dead.update(found)
        self._dead_revision = max((stone.revision for stone in found.values()), default=self._dead_revision)

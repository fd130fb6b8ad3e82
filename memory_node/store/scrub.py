"""Rewrites a database: after something was forgotten, so that its files hold none of it, and to free space."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from memory_node.store import schema
from memory_node.store.check import orphans
from memory_node.store.distribute import has_citus, kept_by_coordinator
from memory_node.store.engine import for_writing, reason_of
from memory_node.store.errors import StoreUnavailableError
from memory_node.store.inspection import database_bytes
from memory_node.store.location import sqlite_path
from memory_node.store.reader import reading
from memory_node.store.terms import Terms, rows_mentioning

# A table of the server's own with samples of ours; the owner of the database may rewrite it.
_STATISTICS = "pg_statistic"


def compact(engine: Engine, site: str) -> dict[str, int]:
    """Remove orphans, and on SQLite marks of removal that no other robot waits for; return what it gained.

    Raises:
        StoreUnavailableError: others kept the file busy.
    """
    removed = 0
    with for_writing(engine.connect()) as connection, connection.begin():
        before = database_bytes(connection)
        for _, table, orphaned in orphans(site):
            removed += connection.execute(table.delete().where(table.c.site == site, orphaned)).rowcount
        if sqlite_path(engine.url) is not None:
            for table in (schema.floors, schema.rooms, schema.areas, schema.relations, schema.documents):
                removed += connection.execute(table.delete().where(table.c.site == site, table.c.removed)).rowcount
    undone = vacuum(engine)
    if undone:
        raise StoreUnavailableError(f"not all could be rewritten: {'; '.join(undone)}")
    with reading(engine) as connection:
        return {"rows_removed": removed, "bytes_before": before, "bytes_after": database_bytes(connection)}


def vacuum(engine: Engine, timeout_s: float = 30.0) -> list[str]:
    """Rewrite the database without its free pages, and empty the write-ahead log.

    Returns what a server left undone, and why: it skips tables of another owner with no more than a warning.

    Raises:
        StoreUnavailableError: others kept it busy all the time.
    """
    path = sqlite_path(engine.url)
    if path is None:
        return _vacuum_server(engine, time.monotonic() + timeout_s)
    deadline = time.monotonic() + timeout_s
    with _alone(path, timeout_s) as database:
        database.execute("VACUUM")
        while database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
            if time.monotonic() > deadline:
                raise StoreUnavailableError(f"the write-ahead log of {path} is in use; run `memory-node store compact`")
            time.sleep(0.05)
    return []


def _vacuum_server(engine: Engine, deadline: float) -> list[str]:
    undone: list[str] = []

    def note(notice: Any) -> None:
        if notice.severity_nonlocalized == "WARNING":
            undone.append(f"server: {notice.message_primary}")

    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        database: Any = connection.connection.driver_connection
        database.add_notice_handler(note)
        try:
            if not _is_seen_by_nobody(connection, deadline):
                undone.append("server: another session may still see what was removed, so its files keep it")
            for table in schema.metadata.sorted_tables:
                _rewrite(connection, table.name, deadline)
            # Analysing leaves the most common values of before in a page of the statistics.
            _rewrite(connection, _STATISTICS, deadline)
            undone += _rewrite_statistics_of_workers(connection)
        finally:
            database.remove_notice_handler(note)
        kept = kept_by_coordinator(connection)
    if kept:
        undone.append(f"server: the coordinator keeps rows of {', '.join(kept)}; run `memory-node store distribute`")
    return undone


def _is_seen_by_nobody(connection: Connection, deadline: float) -> bool:
    """Wait until no session reads the database as it was before; return whether that came in time. VACUUM keeps what
    one could still see, such as a row that was deleted, though none looks at it."""
    now = connection.scalar(sa.text("SELECT pg_current_xact_id()::xid::text"))
    query = sa.text(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        " AND age(backend_xmin) >= age(CAST(:now AS xid))"
    )
    while connection.scalar(query, {"now": now}):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def _rewrite_statistics_of_workers(connection: Connection) -> list[str]:
    """Return what the workers of Citus refused; the other tables are rewritten there by the coordinator's statement."""
    if not has_citus(connection):
        return []
    query = sa.text("SELECT nodename, result FROM run_command_on_workers(:command) WHERE NOT success")
    refused = connection.execute(query, {"command": _rewriting(_STATISTICS)})
    return [f"server: worker {worker}: {reason}" for worker, reason in refused]


def _rewriting(table: str) -> str:
    """Return the statement that rewrites a table."""
    # Not parametrised because it is a name of ours; VACUUM takes no parameters.
    return f'VACUUM (FULL, ANALYZE) "{table}"'


def _rewrite(connection: Connection, table: str, deadline: float) -> None:
    """Rewrite a table once nobody reads it; the role's own limit may end the wait for its lock."""
    while True:
        try:
            connection.execute(sa.text(_rewriting(table)))
        except sa.exc.OperationalError as error:
            if "lock timeout" not in str(error) or time.monotonic() > deadline:
                raise StoreUnavailableError(
                    f"table {table} cannot be rewritten now ({reason_of(error)}); run `memory-node store compact`"
                ) from error
        else:
            return


@contextmanager
def _alone(path: Path, timeout_s: float) -> Iterator[sqlite3.Connection]:
    database = sqlite3.connect(path, timeout=timeout_s, isolation_level=None)
    try:
        database.execute("PRAGMA secure_delete = ON")
        yield database
    except sqlite3.OperationalError as error:
        raise StoreUnavailableError(
            f"{path} cannot be rewritten now ({error}); run `memory-node store compact`"
        ) from error
    finally:
        database.close()


def search_tables(connection: Connection, site: str, terms: Terms) -> list[str]:
    """Return the tables of which a text still holds a term; the name of the site itself is no remembered text."""
    found: list[str] = []
    for table in (*schema.LOGGED, schema.sessions, schema.quarantine):
        names = [column.name for column in table.c if isinstance(column.type, sa.Text) and column.name != "site"]
        if next(rows_mentioning(connection, site, table, names, terms), None) is not None:
            found.append(table.name)
    return found

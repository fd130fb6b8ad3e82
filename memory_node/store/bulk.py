"""Writes many rows of a table in few statements: a server, and each node of a distributed one, is asked less often."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Connection

from memory_node.store.records import Row

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
        connection.execute(upsert_of(connection, table) if replace else insert_missing(connection, table), rows)
        return
    import psycopg

    names = [column.name for column in table.c]
    with sent_together(connection) as database:
        # With numbered places: psycopg would look for its own in the whole text of a long statement each time.
        cursor = psycopg.RawCursor(database)
        for start in range(0, len(rows), _MOST_ROWS):
            chunk = rows[start : start + _MOST_ROWS]
            values = [row[name] for row in chunk for name in names]
            cursor.execute(_statement(table, len(chunk), replace), values)


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
def _statement(table: sa.Table, count: int, replace: bool) -> str:
    """Return the SQL of an insert of so many rows; SQLAlchemy would compile it anew each time."""
    width = len(table.c)
    rows = ", ".join(
        "(" + ", ".join(f"${place}" for place in range(start + 1, start + width + 1)) + ")"
        for start in range(0, count * width, width)
    )
    keys = [column.name for column in table.primary_key]
    others = ", ".join(f'"{c.name}" = excluded."{c.name}"' for c in table.c if c.name not in keys)
    names, key = (", ".join(f'"{name}"' for name in listed) for listed in ([c.name for c in table.c], keys))
    what = f"DO UPDATE SET {others}" if replace else "DO NOTHING"
    return f'INSERT INTO "{table.name}" ({names}) VALUES {rows} ON CONFLICT ({key}) {what}'


@cache
def _insert(dialect: str, table: sa.Table, replace: bool) -> Any:
    insert: Any = (postgresql if dialect == "postgresql" else sqlite).insert(table)
    keys = [column.name for column in table.primary_key]
    if not replace:
        return insert.on_conflict_do_nothing(index_elements=keys)
    values = {column.name: insert.excluded[column.name] for column in table.c if column.name not in keys}
    return insert.on_conflict_do_update(index_elements=keys, set_=values)


def upsert_of(connection: Connection, table: sa.Table) -> Any:
    """Return a statement that inserts a row, or puts it in the place of the one with its key."""
    return _insert(connection.dialect.name, table, True)


def insert_missing(connection: Connection, table: sa.Table) -> Any:
    """Return an insert that leaves rows alone whose key is present."""
    return _insert(connection.dialect.name, table, False)

"""Writes many rows of a table in few statements: a server, and each node of a distributed one, is asked less often."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache
from typing import Any

import sqlalchemy as sa
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


def copy_rows(connection: Connection, table: sa.Table, rows: Sequence[Row]) -> None:
    """Insert the rows whose keys are not present; a server gets many of them as one stream."""
    if connection.dialect.name != "postgresql" or len(rows) <= _MOST_ROWS:
        add_rows(connection, table, rows)
        return
    names = [column.name for column in table.c]
    listed = ", ".join(f'"{name}"' for name in names)
    incoming = f'"incoming_{table.name}"'
    with _errors_of(connection) as database, database.cursor() as cursor:
        cursor.execute(f'CREATE TEMPORARY TABLE {incoming} (LIKE "{table.name}") ON COMMIT DROP')
        with cursor.copy(f"COPY {incoming} ({listed}) FROM STDIN") as stream:
            for row in rows:
                stream.write_row([row[name] for name in names])
        cursor.execute(f'INSERT INTO "{table.name}" ({listed}) SELECT {listed} FROM {incoming} ON CONFLICT DO NOTHING')
        cursor.execute(f"DROP TABLE {incoming}")


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
    with _errors_of(connection), database.pipeline():
        yield database


@contextmanager
def _errors_of(connection: Connection) -> Iterator[Any]:
    """Give the psycopg connection of a server; its errors come as SQLAlchemy's."""
    import psycopg

    database: Any = connection.connection.driver_connection
    try:
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

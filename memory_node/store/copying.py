"""Copies a site's rows between databases; what the target has forgotten stays forgotten."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from memory_node.store import schema
from memory_node.store.apply import add_rows, is_buried, next_revision, read_tombstones
from memory_node.store.bad_rows import BadRows
from memory_node.store.checksums import sealed
from memory_node.store.records import Row

CHUNK = 5_000
_Row = TypeVar("_Row")
# Everything of a site but the register of files that this machine wrote.
COPIED = (schema.sessions, *schema.LOGGED, schema.tombstones, schema.forgettings)


def clear_site(connection: Connection, site: str) -> None:
    """Remove a site's facts; what it has forgotten stays on record."""
    for table in (schema.sessions, *schema.LOGGED):
        connection.execute(table.delete().where(table.c.site == site))


def is_empty(connection: Connection, site: str) -> bool:
    """Return whether a site holds no facts."""
    return not any(
        connection.execute(sa.select(sa.literal(1)).select_from(table).where(table.c.site == site).limit(1)).first()
        for table in schema.LOGGED
    )


def insert_rows(connection: Connection, site: str, table: sa.Table, rows: Iterable[Row], revision: int) -> int:
    """Insert rows under a site's name and one revision, but for the forgotten and the present; return how many."""
    dead = read_tombstones(connection, site)
    before = count_rows(connection, site, table)
    changes: Row = {"site": site, "revision": revision} if "revision" in table.c else {"site": site}
    alive = (sealed(table, {**row, **changes}) for row in rows if not is_buried(table.name, row, dead))
    for chunk in chunks_of(alive):
        add_rows(connection, table, chunk)
    return count_rows(connection, site, table) - before


def update_row(connection: Connection, table: sa.Table, row: Any, changed: Row) -> None:
    """Change the row with the key of `row`. Its site stays: a distributed database does not move rows between sites."""
    site = schema.site_column(table).name
    chosen = (column == row[column.name] for column in table.primary_key)
    values = {name: value for name, value in changed.items() if name != site}
    connection.execute(table.update().where(*chosen).values(values))


def count_rows(connection: Connection, site: str, table: sa.Table) -> int:
    """Return how many rows of a site a table has."""
    return connection.execute(sa.select(sa.func.count()).select_from(table).where(table.c.site == site)).scalar_one()


def copy_site(source: Connection, source_site: str, target: Connection, site: str, bad: BadRows) -> dict[str, int]:
    """Copy all of a site's facts in the target's transaction; return the rows by table. Bad ones are left out."""
    revision = next_revision(target, site)
    return {
        table.name: insert_rows(target, site, table, good_rows(source, source_site, table, bad), revision)
        for table in COPIED
    }


def good_rows(source: Connection, site: str, table: sa.Table, bad: BadRows) -> Iterator[Row]:
    """Yield a site's rows of a table, by its key, but those that cannot be read."""
    query = sa.select(table).where(table.c.site == site).order_by(*table.primary_key)
    names = [column.name for column in table.c]
    for row in bad.sift(table, source.execute(query.execution_options(yield_per=CHUNK))):
        yield dict(zip(names, row))


def chunks_of(rows: Iterable[_Row]) -> Iterator[list[_Row]]:
    """Yield rows in lists that memory has room for."""
    rest = iter(rows)
    while chunk := list(islice(rest, CHUNK)):
        yield chunk

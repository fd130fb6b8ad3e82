"""Puts a new SQLite file with all rows that can still be read in the place of a damaged one, which is kept."""

from __future__ import annotations

import os
import sqlite3
from collections import namedtuple
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from memory_node.domain.clock import Clock
from memory_node.domain.resources import create_private
from memory_node.store import schema
from memory_node.store.address import parse_url
from memory_node.store.bad_rows import BadRows
from memory_node.store.bulk import insert_of
from memory_node.store.checksums import SEALS
from memory_node.store.copying import CHUNK
from memory_node.store.engine import for_writing, leave_wal, open_engine, reading_address
from memory_node.store.errors import StoreUnavailableError
from memory_node.store.quarantine import put_row_away
from memory_node.store.records import Row
from memory_node.store.versioning import create_tables, new_site


@dataclass
class Rescue:
    """What came of it: rows in the new file, the tables that could not be read to their end, and the old file."""

    rows: int = 0
    incomplete: list[str] = field(default_factory=list)
    damaged_file: Path = Path()


def rescue(path: Path, site: str, clock: Clock, backed_up: str) -> Rescue:
    """Replace a damaged file that nobody uses.

    site: what to call it where the file does not say. backed_up: the identity of the site that a backup holds, with
    which an empty file helps.

    Raises:
        StoreUnavailableError: no row of ours can be read in it, and there is no backup.
    """
    done = Rescue()
    new = path.with_name(path.name + ".part")
    new.unlink(missing_ok=True)
    create_private(new)
    try:
        _fill(new, path, site, backed_up, done, clock)
        leave_wal(new)
        if not done.rows and not backed_up:
            raise StoreUnavailableError(
                f"no row can be read in {path}, and no backup lies in {path}.data/backups; restore one from elsewhere"
            )
        done.damaged_file = set_aside(path)
        os.replace(new, path)
    finally:
        new.unlink(missing_ok=True)
    return done


def set_aside(path: Path) -> Path:
    """Give a damaged file a second name and return it.

    It keeps its own name until another file takes it: without one a robot would begin with an empty memory.
    """
    number = 1
    while (damaged := path.with_name(f"{path.name}.damaged-{number}")).exists():
        number += 1
    os.link(path, damaged)
    for suffix in ("-wal", "-shm"):
        if Path(f"{path}{suffix}").exists():
            os.replace(f"{path}{suffix}", f"{damaged}{suffix}")
    return damaged


def _fill(new: Path, damaged: Path, site: str, identity: str, done: Rescue, clock: Clock) -> None:
    engine = open_engine(parse_url(new))
    try:
        with (
            closing(sqlite3.connect(reading_address(damaged), uri=True)) as source,
            for_writing(engine.connect()) as target,
            target.begin(),
        ):
            source.text_factory = lambda text: text.decode("utf-8", "surrogateescape")
            create_tables(target)
            bad = BadRows()
            for table in schema.SEALED:
                _copy_table(source, target, table, done, bad)
            name = _name_site(target, site, identity, clock)
            for row in bad:
                if row.table is not schema.sites:
                    put_row_away(target, name, row, clock())
    finally:
        engine.dispose()


def _copy_table(source: sqlite3.Connection, target: Connection, table: sa.Table, done: Rescue, bad: BadRows) -> None:
    """Copy the rows from the first on, and where the table breaks off, from the last one back."""
    for order in ("ASC", "DESC"):
        try:
            _insert(target, table, bad.sift(table, _rows(source, table, order)), done)
            break
        except sqlite3.DatabaseError:
            continue
    else:
        done.incomplete.append(table.name)


def _insert(target: Connection, table: sa.Table, rows: Iterator[Any], done: Rescue) -> None:
    """Insert rows, also those that come before one that cannot be read."""
    chunk: list[Row] = []

    def write() -> None:
        if chunk:
            done.rows += max(target.execute(insert_of(table), chunk).rowcount, 0)
        chunk.clear()

    try:
        for row in rows:
            chunk.append(row._asdict())
            if len(chunk) == CHUNK:
                write()
    finally:
        write()


def _rows(source: sqlite3.Connection, table: sa.Table, order: str) -> Iterator[Any]:
    key = ", ".join(f'"{column.name}" {order}' for column in table.primary_key)
    listed = SEALS[table.name].names
    names = ", ".join(f'"{name}"' for name in listed)
    row_type: Any = namedtuple("Row", listed)  # type: ignore[misc]
    return map(row_type._make, source.execute(f'SELECT {names} FROM "{table.name}" ORDER BY {key}'))


def _name_site(target: Connection, site: str, identity: str, clock: Clock) -> str:
    """Return the new file's site: as the old one or its rows say, else as the caller does."""
    named = target.execute(sa.select(schema.sites.c.name)).scalar()
    if named is not None:
        return str(named)
    found = (target.execute(sa.select(table.c.site).limit(1)).scalar() for table in schema.LOGGED)
    name = next(filter(None, found), site or "home")
    target.execute(schema.sites.insert(), new_site(name, clock, identity))
    return name

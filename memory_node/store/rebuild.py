"""Puts a new SQLite file in the place of a damaged one, with the rows that are whole; the damaged one is kept."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from memory_node.domain.clock import Clock, system_clock
from memory_node.domain.private_files import create_private
from memory_node.store import schema
from memory_node.store.checksums import SEALS, sealed
from memory_node.store.engine import for_writing, leave_wal, open_engine, parse_url
from memory_node.store.errors import StoreUnavailableError
from memory_node.store.quarantine import put_row_away
from memory_node.store.salvage import Salvaged, salvage
from memory_node.store.tombstones import Tombstone, is_buried
from memory_node.store.versioning import create_tables

_CHUNK = 5_000


@dataclass(frozen=True)
class Rebuilt:
    """What came of it: rows in the new file, rows of which a byte was mended, rows in quarantine, and the old file."""

    rows: int
    mended: int
    quarantined: int
    damaged_file: Path


def rebuild(path: Path, site: str = "", clock: Clock = system_clock) -> Rebuilt:
    """Replace a damaged file that nobody uses.

    site: what to call it where the file does not say.

    Raises:
        StoreUnavailableError: no row of ours is found in it.
    """
    found = _salvage_copy(path)
    if not found.count:
        raise StoreUnavailableError(f"{path} holds nothing that can be mended; restore a backup")
    name = _site_of(found, site)
    new = path.with_name(path.name + ".part")
    new.unlink(missing_ok=True)
    create_private(new)
    try:
        _fill(new, name, found, clock)
        leave_wal(new)
        damaged = _free_name(path)
        # A file exists under the old name at all times: without one a robot would begin with an empty memory.
        os.link(path, damaged)
        for suffix in ("-wal", "-shm"):
            if Path(f"{path}{suffix}").exists():
                os.replace(f"{path}{suffix}", f"{damaged}{suffix}")
        os.replace(new, path)
    finally:
        new.unlink(missing_ok=True)
    return Rebuilt(found.count, found.mended, len(found.bad), damaged)


def _salvage_copy(path: Path) -> Salvaged:
    """Gather the rows of a file and its write-ahead log, which is brought into a copy as far as SQLite can."""
    log = Path(f"{path}-wal")
    if not log.is_file() or not log.stat().st_size:
        return salvage(path)
    with tempfile.TemporaryDirectory(prefix="robot_memory_") as folder:
        copy = Path(folder) / "copy.db"
        shutil.copy(path, copy)
        shutil.copy(log, f"{copy}-wal")
        database = sqlite3.connect(copy)
        try:
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except sqlite3.DatabaseError:
            # Too damaged even for that: what is in the file itself counts.
            shutil.copy(path, copy)
        finally:
            database.close()
        return salvage(copy)


def _site_of(found: Salvaged, site: str) -> str:
    names = [str(values[0]) for values in found.rows["sites"].values()]
    elsewhere = (str(values[0]) for rows in found.rows.values() for values in rows.values())
    return names[0] if names else next(elsewhere, site or "home")


def _free_name(path: Path) -> Path:
    number = 1
    while (free := path.with_name(f"{path.name}.damaged-{number}")).exists():
        number += 1
    return free


def _fill(path: Path, site: str, found: Salvaged, clock: Clock) -> None:
    engine = open_engine(parse_url(path))
    try:
        with for_writing(engine.connect()) as connection, connection.begin():
            create_tables(connection)
            connection.execute(schema.sites.insert(), _site_row(site, found, clock))
            dead = _tombstones(found)
            for table in schema.SEALED:
                if table is not schema.sites:
                    _insert(connection, table, list(found.rows[table.name].values()), dead)
            for bad in found.bad:
                put_row_away(connection, site, bad, clock())
    finally:
        engine.dispose()


def _site_row(site: str, found: Salvaged, clock: Clock) -> dict[str, Any]:
    """Return the site's row with a revision that none of its rows is above."""
    known = {values[0]: dict(zip(SEALS["sites"].names, values)) for values in found.rows["sites"].values()}
    row = known.get(site, {"name": site, "revision": 0, "revision_check": 0, "created_ns": clock()})
    revisions = [
        values[SEALS[name].names.index("revision")]
        for name, rows in found.rows.items()
        if name != "sites" and "revision" in SEALS[name].names
        for values in rows.values()
    ]
    # The greater of the revision and its stored negative: robots have seen everything up to the right one.
    revision = max([*revisions, row["revision"], -row["revision_check"]])
    return sealed(schema.sites, {**row, "revision": revision, "revision_check": -revision})


def _tombstones(found: Salvaged) -> dict[str, Tombstone]:
    names = SEALS["tombstones"].names
    rows = (dict(zip(names, values)) for values in found.rows["tombstones"].values())
    return {row["id"]: Tombstone(row["revision"], row["stamp_ns"]) for row in rows}


def _insert(connection: Connection, table: sa.Table, found: list[list[Any]], dead: dict[str, Tombstone]) -> None:
    names = SEALS[table.name].names
    rows = [dict(zip(names, values)) for values in found]
    rows = [row for row in rows if not is_buried(table.name, row, dead)]
    for start in range(0, len(rows), _CHUNK):
        connection.execute(table.insert(), rows[start : start + _CHUNK])

"""Checks whether a store is undamaged, and says what to do if not; changes nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from memory_node.domain.errors import RobotMemoryError
from memory_node.store import schema
from memory_node.store.bad_rows import BadRow
from memory_node.store.checksums import SEALS
from memory_node.store.copying import CHUNK
from memory_node.store.engine import DATABASE_ERRORS, reason_of
from memory_node.store.image_checksums import damaged_images
from memory_node.store.images import ImageFolder
from memory_node.store.inspection import OpenedStore
from memory_node.store.journal import torn_bytes
from memory_node.store.links import loose_ends
from memory_node.store.location import Folders
from memory_node.store.quarantine import Quarantined, quarantined
from memory_node.store.reader import lenient_text
from memory_node.store.row_values import fault_of
from memory_node.store.scrub import database_files
from memory_node.store.sqlite_structure import header_faults, page_faults, table_faults
from memory_node.store.tombstones import Tombstone, is_buried, read_tombstones
from memory_node.store.validate import check_agreement

_SHOWN = 5
_REPAIR = "stop the robot and run `memory-node store check --repair`, or restore the last backup"


@dataclass(frozen=True)
class Finding:
    """One fault. severity: "error" (facts are wrong or lost) or "warning". structure: the fault is in the structure of
    a SQLite file, not in a row, so that only a new file helps.
    """

    severity: str
    what: str
    advice: str
    structure: bool = False


def check(opened: OpenedStore) -> list[Finding]:
    """Return what is wrong with a store."""
    findings = list(_check_files(opened.path, opened.folders)) if opened.path is not None else []
    if opened.path is not None:
        findings += [_damage(fault) for fault in header_faults(opened.path)]
    try:
        with opened.engine.connect() as connection, connection.begin(), lenient_text(connection):
            if opened.path is not None:
                findings += [_damage(fault) for fault in page_faults(connection)]
                findings += [_damage(fault) for fault in table_faults(connection, opened.schema)]
            findings += _check_tables(connection, opened.site, opened.folders.images)
            if not any(finding.structure for finding in findings):
                findings += [
                    Finding("warning", what, "harmless; `store compact` removes orphans")
                    for what in loose_ends(connection, opened.site)
                ]
    except DATABASE_ERRORS as error:
        findings.append(_damage(f"the database cannot be read to its end: {reason_of(error)}"))
    return findings


def _damage(what: str) -> Finding:
    return Finding("error", what, _REPAIR, structure=True)


def _check_files(path: Path, folders: Folders) -> Iterator[Finding]:
    for file in (*database_files(path), folders.journal):
        if file.is_file() and file.stat().st_mode & 0o077:
            mode = f"{file.stat().st_mode & 0o777:04o}"
            yield Finding("warning", f"{file} can be read by others (mode {mode})", f"chmod 600 {file}")
    free_bytes = os.statvfs(path.parent).f_bavail * os.statvfs(path.parent).f_frsize
    if free_bytes < path.stat().st_size:
        advice = "free space: forgetting and compacting rewrite the whole file"
        yield Finding("warning", f"{free_bytes / 2**20:.0f} MiB are free, less than the file takes", advice)
    if folders.journal.is_file() and (torn := torn_bytes(folders.journal)):
        advice = "a crash leaves that, of facts that were never acknowledged; any other cause has cost facts"
        yield Finding("warning", f"{folders.journal} ends with {torn} bytes that are no whole entry", advice)
    for image in damaged_images(folders):
        yield Finding(
            "error", f"{image}: the checksum in its name does not fit", "`store check --repair` mends or removes it"
        )


def _check_tables(connection: Connection, site: str, images: ImageFolder) -> Iterator[Finding]:
    missing = sorted(set(schema.metadata.tables) - set(sa.inspect(connection).get_table_names()))
    if missing:
        yield _damage(f"tables are missing: {', '.join(missing)}")
        return
    yield from _check_revisions(connection)
    dead = read_tombstones(connection, site)
    newest = connection.execute(
        sa.select(schema.sites.c.revision).where(schema.sites.c.name == site)
    ).scalar_one_or_none()
    sites = set(connection.execute(sa.select(schema.sites.c.name)).scalars())
    for table in schema.SEALED:
        yield from _RowCheck(table, sites, dead, newest or 0, images).run(connection)
    waiting = quarantined(connection, site)
    if waiting:
        yield Finding("warning", _listed("rows are in quarantine", waiting), "`store check --repair` mends what it can")


def _listed(what: str, rows: list[Quarantined]) -> str:
    shown = "; ".join(f"{row.name}: {row.row.reason}" for row in rows[:_SHOWN])
    return f"{len(rows)} {what}: {shown}{'; ...' if len(rows) > _SHOWN else ''}"


def _check_revisions(connection: Connection) -> Iterator[Finding]:
    for row in connection.execute(
        sa.select(schema.sites.c.name, schema.sites.c.revision, schema.sites.c.revision_check)
    ):
        if row.revision + row.revision_check:
            yield Finding("error", f"the revision of site {row.name!r} is damaged", _REPAIR)


def scan(connection: Connection, table: sa.Table, *conditions: Any) -> Iterator[Any]:
    """Yield the rows of a table, of all sites, with truth values as the numbers that they are stored as."""
    columns = [sa.type_coerce(c, sa.Integer).label(c.name) if isinstance(c.type, sa.Boolean) else c for c in table.c]
    if connection.dialect.name == "postgresql":
        columns = list(table.c)
    query = sa.select(*columns).where(*conditions).order_by(*table.primary_key)
    for chunk in connection.execute(query.execution_options(yield_per=CHUNK)).partitions(CHUNK):
        yield from chunk


def row_fault(table: sa.Table, row: Any) -> str:
    """Return what is wrong with a row of the database, "" for a good one."""
    return SEALS[table.name].fault(row) or fault_of(table.name, row)


class _RowCheck:
    """One look at all rows of a table."""

    def __init__(
        self, table: sa.Table, sites: set[str], dead: dict[str, Tombstone], newest: int, images: ImageFolder
    ) -> None:
        self._table = table
        self._sites = sites
        self._dead = dead
        self._newest = newest
        self._images = images
        self._bad: list[BadRow] = []
        self._buried = self._late = self._stray = self._unsealed = 0

    def run(self, connection: Connection) -> Iterator[Finding]:
        """Yield what is wrong with the rows."""
        place = SEALS[self._table.name].checksum_place
        for row in scan(connection, self._table):
            self._unsealed += row[place] is None
            fault = row_fault(self._table, row) or self._disagreement(row)
            if fault:
                self._bad.append(BadRow(self._table, tuple(row), fault))
            elif self._table in schema.LOGGED:
                self._buried += is_buried(self._table.name, row._mapping, self._dead)
                self._late += row.revision > self._newest
            if self._table is not schema.sites:
                self._stray += row.site not in self._sites
        yield from self._findings()

    def _disagreement(self, row: Any) -> str:
        if self._table is not schema.objects:
            return ""
        try:
            check_agreement(dict(row._mapping), self._images)
        except (RobotMemoryError, ValueError, KeyError) as error:
            return str(error)
        return ""

    def _findings(self) -> Iterator[Finding]:
        name = self._table.name
        if self._bad:
            shown = "; ".join(f"{'/'.join(map(str, bad.key.values()))}: {bad.reason}" for bad in self._bad[:_SHOWN])
            yield Finding("error", f"{name}: {len(self._bad)} rows cannot be read: {shown}", _REPAIR)
        if self._stray:
            yield Finding("error", f"{name}: {self._stray} rows of a site that is not there", _REPAIR, structure=True)
        if self._buried:
            advice = "forget them again: this database was changed by something other than robot_memory"
            yield Finding("error", f"{name}: {self._buried} rows of things that were forgotten", advice)
        if self._late:
            advice = "robots may miss these rows: `store backup`, then `store restore --replace` renumbers them"
            yield Finding("error", f"{name}: {self._late} rows with a revision that was never given", advice)
        if self._unsealed:
            advice = "an older program wrote them; `store check --repair` adds it"
            yield Finding("warning", f"{name}: {self._unsealed} rows carry no checksum", advice)

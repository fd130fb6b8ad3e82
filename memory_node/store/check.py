"""Checks whether a store is undamaged, and says what to do if not; changes nothing."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import URL, Connection

from memory_node.domain.errors import RobotMemoryError, StoreError
from memory_node.store import schema
from memory_node.store.apply import Tombstone, is_buried, read_tombstones
from memory_node.store.config import StoreConfig
from memory_node.store.copying import CHUNK
from memory_node.store.engine import DATABASE_ERRORS, database_files, reason_of
from memory_node.store.errors import ForeignFileError, MissingStoreError
from memory_node.store.exchange import check_agreement
from memory_node.store.inspection import OpenedStore, open_to_read
from memory_node.store.journal import torn_bytes
from memory_node.store.location import Folders, ImageFolder
from memory_node.store.quarantine import BadRows, quarantined
from memory_node.store.reader import lenient_text, revision_of

_SHOWN = 5
_ADVICE = "stop the robot and run `memory-node store check --repair`; what is lost comes from the last backup"


@dataclass(frozen=True)
class Finding:
    """One fault. severity: "error" (facts are wrong or lost) or "warning". structure: the fault is in the structure of
    a SQLite file or its site, not in a row, so that only a new file helps.
    """

    severity: str
    what: str
    advice: str
    structure: bool = False


def findings_of(url: URL, site: str, robot_id: str, config: StoreConfig) -> list[Finding]:
    """Return what is wrong with a store, also when it cannot be opened for that.

    Raises:
        MissingStoreError, ForeignFileError: there is no file, or it is none of ours.
    """
    findings: list[Finding] = []
    try:
        with open_to_read(url, site, robot_id, config) as opened:
            try:
                findings.extend(_faults(opened))
            except DATABASE_ERRORS as error:
                findings.append(_damage(f"the database cannot be read to its end: {reason_of(error)}"))
    except (ForeignFileError, MissingStoreError):
        raise
    except StoreError as error:
        findings.append(_damage(str(error)))
    return findings


def _damage(what: str) -> Finding:
    return Finding("error", what, _ADVICE, structure=True)


def _faults(opened: OpenedStore) -> Iterator[Finding]:
    site = opened.site
    with opened.engine.connect() as connection, connection.begin(), lenient_text(connection):
        if opened.path is not None:
            yield from _check_files(opened.path, opened.folders)
            for fault in _structure_faults(connection):
                yield _damage(fault)
        missing = sorted(set(schema.metadata.tables) - set(sa.inspect(connection).get_table_names()))
        if missing:
            yield _damage(f"tables are missing: {', '.join(missing)}")
            return
        dead = read_tombstones(connection, site)
        for table in schema.SEALED:
            yield from _check_rows(connection, table, site, dead, opened.folders.images)
        away = quarantined(connection, site)
        if away:
            shown = _shown([f"{row.name}: {row.reason}" for row in away])
            advice = "`store check --repair` takes what the last backup has of them"
            yield Finding("warning", f"{len(away)} rows are in quarantine: {shown}", advice)


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
    for image in (*folders.images.damaged(), *folders.crops.damaged()):
        yield Finding("error", f"{image}: the checksum in its name does not fit", "`store check --repair` removes it")


def _structure_faults(connection: Connection) -> Iterator[str]:
    """Yield what is wrong with the pages and indexes of a SQLite file, and how its tables differ from the schema's."""
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    for (verdict,) in connection.execute(sa.text("PRAGMA integrity_check(20)")).all():
        if verdict != "ok":
            yield f"SQLite: {verdict}"
    for difference in compare_metadata(MigrationContext.configure(connection), schema.metadata):
        yield f"a table is not as the schema says: {difference}"


def scan(
    connection: Connection, table: sa.Table, site: str, order: Callable[[sa.Column[Any]], Any] = sa.asc
) -> Iterator[Any]:
    """Yield a site's rows of a table, by its key; of a SQLite file, which has one site, all: a damaged row may say
    another one. There they come one by one, up to one that cannot be read, with truth values as they are stored.
    """
    by_key = [order(column) for column in table.primary_key]
    if connection.dialect.name == "postgresql":
        query = sa.select(table).where(schema.site_column(table) == site).execution_options(yield_per=CHUNK)
    else:
        query = sa.select(
            *(
                sa.type_coerce(column, sa.Integer).label(column.name) if isinstance(column.type, sa.Boolean) else column
                for column in table.c
            )
        )
    yield from connection.execute(query.order_by(*by_key))


def _shown(listed: list[str]) -> str:
    return "; ".join([*listed[:_SHOWN], *(["..."] if len(listed) > _SHOWN else [])])


def _check_rows(
    connection: Connection, table: sa.Table, site: str, dead: dict[str, Tombstone], images: ImageFolder
) -> Iterator[Finding]:
    """Yield what is wrong with a site's rows of a table."""
    bad, buried, late = BadRows(), 0, 0
    newest = revision_of(connection, site)
    for row in bad.sift(table, scan(connection, table, site)):
        if disagreement := _disagreement(row, images) if table is schema.objects else "":
            bad.note(table, row, disagreement)
        elif table is schema.sites and row.revision + row.revision_check:
            yield Finding("error", f"the revision of site {site!r} is damaged", _ADVICE)
        elif table in schema.LOGGED:
            buried += is_buried(table.name, row._mapping, dead)
            late += row.revision > newest
    if bad:
        shown = _shown([f"{'/'.join(map(str, one.key.values()))}: {one.reason}" for one in bad])
        what = f"{table.name}: {len(bad)} rows cannot be read: {shown}"
        yield Finding("error", what, _ADVICE, structure=table is schema.sites)
    if buried:
        advice = "forget them again: this database was changed by something other than robot_memory"
        yield Finding("error", f"{table.name}: {buried} rows of things that were forgotten", advice)
    if late:
        advice = "robots may miss these rows: `store check --repair` raises the site's revision above them"
        yield Finding("error", f"{table.name}: {late} rows with a revision that was never given", advice)


def _disagreement(row: Any, images: ImageFolder) -> str:
    try:
        check_agreement(dict(row._mapping), images)
    except (RobotMemoryError, ValueError, KeyError) as error:
        return str(error)
    return ""

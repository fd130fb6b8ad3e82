"""Checks whether a store is undamaged, and says what to do if not; changes nothing."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import URL, Connection

from memory_node.domain.errors import StoreError
from memory_node.store import schema
from memory_node.store.bad_rows import BadRows
from memory_node.store.config import StoreConfig
from memory_node.store.copying import CHUNK
from memory_node.store.engine import DATABASE_ERRORS, database_files, reason_of
from memory_node.store.errors import ForeignFileError, MissingStoreError
from memory_node.store.inspection import OpenedStore, open_to_read
from memory_node.store.journal import torn_bytes
from memory_node.store.location import Folders
from memory_node.store.reader import lenient_text

_SHOWN = 5
_ADVICE = "stop the robot and run `memory-node store check --repair`; what is lost comes from the last backup"


@dataclass(frozen=True)
class Finding:
    """One fault. severity: "error" (facts are wrong or lost) or "warning". damage: of the database itself."""

    severity: str
    what: str
    advice: str
    damage: bool = False


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
    return Finding("error", what, _ADVICE, damage=True)


def _faults(opened: OpenedStore) -> Iterator[Finding]:
    with opened.engine.connect() as connection, connection.begin(), lenient_text(connection):
        if opened.path is not None:
            yield from _check_files(opened.path, opened.folders)
            for fault in _structure_faults(connection):
                yield _damage(fault)
        missing = sorted(set(schema.metadata.tables) - set(sa.inspect(connection).get_table_names()))
        if missing:
            yield _damage(f"tables are missing: {', '.join(missing)}")
            return
        for table in schema.SEALED:
            yield from _check_rows(connection, table, opened.site)


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


def _check_rows(connection: Connection, table: sa.Table, site: str) -> Iterator[Finding]:
    """Yield what is wrong with a site's rows of a table."""
    bad = BadRows()
    deque(bad.sift(table, scan(connection, table, site)), maxlen=0)
    if bad:
        shown = "; ".join([*map(str, bad[:_SHOWN]), *(["..."] if len(bad) > _SHOWN else [])])
        yield _damage(f"{len(bad)} rows cannot be read and are left out: {shown}")

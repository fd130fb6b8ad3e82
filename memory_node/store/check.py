"""Looks whether a store is whole, and says what to do where it is not."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from memory_node.store import schema
from memory_node.store.copying import rows_of
from memory_node.store.engine import sqlite_path
from memory_node.store.errors import InvalidImportError
from memory_node.store.images import ImageFolder
from memory_node.store.location import Folders
from memory_node.store.reader import reading
from memory_node.store.scrub import database_files
from memory_node.store.tombstones import is_buried, read_tombstones
from memory_node.store.validate import check_row

_SHOWN = 5


@dataclass(frozen=True)
class Finding:
    """One thing that is not as it should be. severity: "error" (facts are wrong or lost) or "warning"."""

    severity: str
    what: str
    advice: str


def check(engine: Engine, site: str, folders: Folders) -> list[Finding]:
    """Return what is wrong with a site's store; nothing is changed."""
    path = sqlite_path(engine.url)
    findings = list(_check_files(path, folders)) if path is not None else []
    with reading(engine) as connection:
        findings += _check_database(connection, path)
        if any(finding.severity == "error" for finding in findings):
            return findings
        findings += _check_rows(connection, site, folders.images)
        findings += _check_links(connection, site)
    return findings


def _check_files(path: Path, folders: Folders) -> Iterator[Finding]:
    for file in (*database_files(path), folders.journal):
        if file.is_file() and file.stat().st_mode & 0o077:
            mode = f"{file.stat().st_mode & 0o777:04o}"
            yield Finding("warning", f"{file} can be read by others (mode {mode})", f"chmod 600 {file}")
    free_bytes = os.statvfs(path.parent).f_bavail * os.statvfs(path.parent).f_frsize
    if free_bytes < path.stat().st_size:
        advice = "free space: forgetting and compacting rewrite the whole file"
        yield Finding("warning", f"{free_bytes / 2**20:.0f} MiB are free, less than the file takes", advice)


def _check_database(connection: Connection, path: Path | None) -> Iterator[Finding]:
    if path is not None:
        for (verdict,) in connection.execute(sa.text("PRAGMA integrity_check(20)")).all():
            if verdict != "ok":
                advice = (
                    "restore the last backup elsewhere, `store export` what can still be read here, import it there"
                )
                yield Finding("error", f"SQLite: {verdict}", advice)
    tables = set(sa.inspect(connection).get_table_names())
    missing = sorted(set(schema.metadata.tables) - tables)
    if missing:
        yield Finding("error", f"tables are missing: {', '.join(missing)}", "restore the last backup")
    elif connection.execute(sa.text("SELECT count(*) FROM alembic_version")).scalar_one() != 1:
        yield Finding("error", "the schema's version is not noted", "restore the last backup")


def _check_rows(connection: Connection, site: str, images: ImageFolder) -> Iterator[Finding]:
    newest = connection.execute(sa.select(schema.sites.c.revision).where(schema.sites.c.name == site)).scalar_one()
    dead = read_tombstones(connection, site)
    for table in schema.LOGGED:
        bad: list[str] = []
        buried = late = 0
        for row in rows_of(connection, site, table):
            try:
                check_row(table, row, images)
            except InvalidImportError as error:
                bad.append(str(error))
            buried += is_buried(table.name, row, dead)
            late += row["revision"] > newest
        if bad:
            advice = "export the site (the export names the rows), forget these objects, or restore the last backup"
            yield Finding("error", f"{len(bad)} rows cannot be read: {'; '.join(bad[:_SHOWN])}", advice)
        if buried:
            advice = "forget them again: this database was changed by something other than robot_memory"
            yield Finding("error", f"{table.name}: {buried} rows of things that were forgotten", advice)
        if late:
            advice = "robots may miss these rows: `store backup`, then `store restore --replace` renumbers them"
            yield Finding("error", f"{table.name}: {late} rows with a revision that was never given", advice)


def _check_links(connection: Connection, site: str) -> Iterator[Finding]:
    """Look for references to what is not there; they do no harm but say that something went missing."""
    objects = _ids(connection, site, schema.objects)
    places = objects | _ids(connection, site, schema.areas) | _ids(connection, site, schema.rooms)
    places |= _ids(connection, site, schema.floors)
    episodes = _ids(connection, site, schema.episodes)
    looks: list[tuple[str, sa.Table, Callable[[dict], bool]]] = [
        ("stand on something that is not there", schema.objects, lambda row: _hangs(row["support_id"], places)),
        ("merged into an object that is not there", schema.objects, lambda row: _hangs(row["merged_into"], objects)),
        ("have no object", schema.appearances, lambda row: row["object_id"] not in objects),
        ("have no object", schema.places, lambda row: row["object_id"] not in objects),
        ("join nodes that are not there", schema.relations, lambda row: _loose(row, places)),
        ("have no episode", schema.steps, lambda row: row["episode_id"] not in episodes),
    ]
    for what, table, is_loose in looks:
        count = sum(is_loose(row) for row in rows_of(connection, site, table))
        if count:
            yield Finding("warning", f"{table.name}: {count} rows {what}", "harmless; `store compact` removes orphans")
    known = {(row["kind"], row["id"]) for row in rows_of(connection, site, schema.documents)}
    orphans = sum(
        (row["record_kind"], row["record_id"]) not in known for row in rows_of(connection, site, schema.supports)
    )
    if orphans:
        yield Finding(
            "warning", f"supports: {orphans} rows of learned things that are not there", "harmless; `store compact`"
        )


def _ids(connection: Connection, site: str, table: sa.Table) -> set[str]:
    return set(connection.execute(sa.select(table.c.id).where(table.c.site == site)).scalars())


def _hangs(record_id: str, known: set[str]) -> bool:
    return bool(record_id) and record_id not in known


def _loose(row: dict, known: set[str]) -> bool:
    return not row["removed"] and not {row["source_id"], row["target_id"]} <= known

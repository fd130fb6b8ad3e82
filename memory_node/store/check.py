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
from memory_node.store.apply import Tombstone, is_buried, read_tombstones
from memory_node.store.copying import CHUNK
from memory_node.store.engine import DATABASE_ERRORS, database_files, reason_of
from memory_node.store.exchange import check_agreement
from memory_node.store.inspection import OpenedStore
from memory_node.store.journal import torn_bytes
from memory_node.store.location import Folders, ImageFolder
from memory_node.store.quarantine import BadRows, Quarantined, quarantined
from memory_node.store.reader import lenient_text, revision_of

_SHOWN = 5
REPAIR_ADVICE = "stop the robot and run `memory-node store check --repair`; what is lost comes from the last backup"


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
    try:
        with opened.engine.connect() as connection, connection.begin(), lenient_text(connection):
            if opened.path is not None:
                findings += [_damage(fault) for fault in _structure_faults(connection)]
            findings += _check_tables(connection, opened.site, opened.folders.images)
            if not any(finding.structure for finding in findings):
                findings += [
                    Finding("warning", what, "harmless; `store compact` removes orphans")
                    for what in loose_ends(connection, opened.site)
                ]
    except DATABASE_ERRORS as error:
        findings.append(_damage(f"the database cannot be read to its end: {reason_of(error)}"))
    return findings


def _structure_faults(connection: Connection) -> Iterator[str]:
    """Yield what is wrong with the pages and indexes of a SQLite file, and how its tables differ from the schema's."""
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    for (verdict,) in connection.execute(sa.text("PRAGMA integrity_check(20)")).all():
        if verdict != "ok":
            yield f"SQLite: {verdict}"
    for difference in compare_metadata(MigrationContext.configure(connection), schema.metadata):
        yield f"a table is not as the schema says: {difference}"


def _damage(what: str) -> Finding:
    return Finding("error", what, REPAIR_ADVICE, structure=True)


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


def _check_tables(connection: Connection, site: str, images: ImageFolder) -> Iterator[Finding]:
    missing = sorted(set(schema.metadata.tables) - set(sa.inspect(connection).get_table_names()))
    if missing:
        yield _damage(f"tables are missing: {', '.join(missing)}")
        return
    yield from _check_revision(connection, site)
    dead = read_tombstones(connection, site)
    newest = revision_of(connection, site)
    for table in schema.SEALED:
        yield from _check_rows(connection, table, site, dead, newest, images)
    if connection.dialect.name == "sqlite":
        yield from _check_strays(connection, site)
    waiting = quarantined(connection, site)
    if waiting:
        advice = "`store check --repair` takes what the last backup has of them"
        yield Finding("warning", _listed("rows are in quarantine", waiting), advice)


def _listed(what: str, rows: list[Quarantined]) -> str:
    shown = "; ".join(f"{row.name}: {row.row.reason}" for row in rows[:_SHOWN])
    return f"{len(rows)} {what}: {shown}{'; ...' if len(rows) > _SHOWN else ''}"


def _check_revision(connection: Connection, site: str) -> Iterator[Finding]:
    sites = schema.sites
    row = connection.execute(sa.select(sites.c.revision, sites.c.revision_check).where(sites.c.name == site)).one()
    if row.revision + row.revision_check:
        yield Finding("error", f"the revision of site {site!r} is damaged", REPAIR_ADVICE)


def _check_strays(connection: Connection, site: str) -> Iterator[Finding]:
    """Look for rows that no statement reaches: a SQLite file holds one site."""
    for table in schema.SEALED:
        column = schema.site_column(table)
        count = connection.execute(sa.select(sa.func.count()).select_from(table).where(column != site)).scalar_one()
        if count:
            yield _damage(f"{table.name}: {count} rows of a site that is not there")


def scan(connection: Connection, table: sa.Table, site: str) -> Iterator[Any]:
    """Yield a site's rows of a table, with truth values as the numbers that they are stored as."""
    columns = [sa.type_coerce(c, sa.Integer).label(c.name) if isinstance(c.type, sa.Boolean) else c for c in table.c]
    if connection.dialect.name == "postgresql":
        columns = list(table.c)
    query = sa.select(*columns).where(schema.site_column(table) == site).order_by(*table.primary_key)
    for chunk in connection.execute(query.execution_options(yield_per=CHUNK)).partitions(CHUNK):
        yield from chunk


def _check_rows(
    connection: Connection, table: sa.Table, site: str, dead: dict[str, Tombstone], newest: int, images: ImageFolder
) -> Iterator[Finding]:
    """Yield what is wrong with a site's rows of a table."""
    bad, buried, late = BadRows(), 0, 0
    for row in bad.sift(table, scan(connection, table, site)):
        if disagreement := _disagreement(row, images) if table is schema.objects else "":
            bad.note(table, row, disagreement)
        elif table in schema.LOGGED:
            buried += is_buried(table.name, row._mapping, dead)
            late += row.revision > newest
    if bad:
        shown = "; ".join(f"{'/'.join(map(str, one.key.values()))}: {one.reason}" for one in bad[:_SHOWN])
        yield Finding("error", f"{table.name}: {len(bad)} rows cannot be read: {shown}", REPAIR_ADVICE)
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


# What the scene graph calls the robot's hand.
_HAND = "robot"


def loose_ends(connection: Connection, site: str) -> Iterator[str]:
    """Yield, for each kind of reference that leads nowhere, how many there are."""
    for what, table, condition in _looks(site):
        query = sa.select(sa.func.count()).select_from(table).where(table.c.site == site, condition)
        count = connection.execute(query).scalar_one()
        if count:
            yield f"{table.name}: {count} rows {what}"


def _looks(site: str) -> Iterator[tuple[str, sa.Table, Any]]:
    objects, relations = schema.objects, schema.relations
    kinds = (objects, schema.areas, schema.rooms, schema.floors)
    places = sa.union(*(sa.select(table.c.id).where(table.c.site == site) for table in kinds)).subquery()

    def is_place(column: sa.Column) -> Any:
        return column.in_(sa.select(places.c.id))

    hangs = sa.and_(objects.c.support_id.not_in(("", _HAND)), sa.not_(is_place(objects.c.support_id)))
    yield "stand on something that is not there", objects, hangs
    merged = sa.and_(objects.c.merged_into != "", sa.not_(_is_object(objects.c.merged_into, site)))
    yield "merged into an object that is not there", objects, merged
    loose = sa.or_(sa.not_(is_place(relations.c.source_id)), sa.not_(is_place(relations.c.target_id)))
    yield "join nodes that are not there", relations, sa.and_(sa.not_(relations.c.removed), loose)
    episodes = sa.select(schema.episodes.c.id).where(schema.episodes.c.site == site)
    yield "have no episode", schema.steps, schema.steps.c.episode_id.not_in(episodes)
    yield from orphans(site)


def _is_object(column: sa.Column, site: str) -> Any:
    return column.in_(sa.select(schema.objects.c.id).where(schema.objects.c.site == site))


def orphans(site: str) -> Iterator[tuple[str, sa.Table, Any]]:
    """Yield the rows that no record needs any more: what they are, their table, and their condition beside the site."""
    for table in (schema.appearances, schema.places):
        yield "have no object", table, sa.not_(_is_object(table.c.object_id, site))
    documents, supports = schema.documents, schema.supports
    known = sa.exists().where(
        documents.c.site == site, documents.c.kind == supports.c.record_kind, documents.c.id == supports.c.record_id
    )
    yield "are of learned things that are not there", supports, sa.not_(known)

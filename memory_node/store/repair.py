"""Mends a store: bytes that changed are changed back where the checksums say how, what cannot be read is put away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from memory_node.domain.clock import Clock, system_clock
from memory_node.store import schema
from memory_node.store.bad_rows import BadRow
from memory_node.store.check import row_fault, scan
from memory_node.store.checksums import SEALS, RowSeal
from memory_node.store.copying import insert_missing
from memory_node.store.correction import corrected_picture, corrected_row
from memory_node.store.engine import for_writing
from memory_node.store.image_checksums import damaged_images, mend_image
from memory_node.store.location import Folders
from memory_node.store.quarantine import Quarantined, put_row_away, quarantined, this_row
from memory_node.store.reader import lenient_text
from memory_node.store.row_values import fault_of
from memory_node.store.tombstones import Tombstone, is_buried, read_tombstones


@dataclass
class Mending:
    """What was done. mended: rows as they were again; sealed: rows that got their first checksum; put_away: into
    quarantine; brought_back: out of it; images_removed: pictures that could not be mended."""

    mended: int = 0
    sealed: int = 0
    put_away: int = 0
    brought_back: int = 0
    discarded: int = 0
    images_mended: int = 0
    images_removed: int = 0
    notes: list[str] = field(default_factory=list)


def mend_rows(engine: Engine, site: str, discard: bool = False, clock: Clock = system_clock) -> Mending:
    """Mend the rows of a database whose structure is whole; all of it or nothing.

    discard: remove from quarantine what cannot be mended.
    """
    done = Mending()
    with for_writing(engine.connect()) as connection, connection.begin(), lenient_text(connection):
        for table in schema.SEALED:
            faulty = [tuple(row) for row in scan(connection, table) if _is_faulty(table, row)]
            for values in faulty:
                _mend_row(connection, site, table, values, clock(), done)
        _mend_revisions(connection)
        dead = read_tombstones(connection, site)
        for waiting in quarantined(connection, site):
            _bring_back(connection, site, waiting, dead, done)
        if discard:
            table = schema.quarantine
            done.discarded = connection.execute(table.delete().where(table.c.site == site)).rowcount
    return done


def _is_faulty(table: sa.Table, row: Any) -> bool:
    return bool(row_fault(table, row)) or row[SEALS[table.name].checksum_place] is None


def _mend_row(
    connection: Connection, site: str, table: sa.Table, values: tuple[Any, ...], stamp_ns: int, done: Mending
) -> None:
    bad = BadRow(table, values, _fault(table, values))
    if not bad.reason:
        _replace(connection, bad, values)
        done.sealed += 1
        return
    whole = mended_values(SEALS[table.name], values)
    if whole is not None:
        _replace(connection, bad, whole)
        done.mended += 1
    elif table is schema.quarantine:
        connection.execute(table.delete().where(*this_row(connection, bad)))
    elif table is schema.sites:
        _replace(connection, bad, values)
    else:
        put_row_away(connection, site, bad, stamp_ns)
        done.put_away += 1


def mended_values(seal: RowSeal, values: Sequence[Any]) -> list[Any] | None:
    """Return a row as it was before one byte of it changed, or without a picture that cannot be mended; else None."""
    whole = list(values)
    if seal.row_fault(values):
        corrected = corrected_row(seal, values)
        if corrected is None:
            return None
        whole = corrected
    if seal.picture_place >= 0 and seal.picture_fault(whole):
        checksum = whole[seal.names.index("crop_checksum")]
        picture = whole[seal.picture_place]
        whole[seal.picture_place] = (
            corrected_picture(picture, checksum) if isinstance(picture, bytes) else None
        ) or b""
    return None if _fault_of_values(seal, whole) else whole


def _fault(table: sa.Table, values: Sequence[Any]) -> str:
    return SEALS[table.name].fault(values) or _fault_of_values(SEALS[table.name], values)


def _fault_of_values(seal: RowSeal, values: Sequence[Any]) -> str:
    return fault_of(seal.table.name, seal.named(values))


def _replace(connection: Connection, bad: BadRow, values: Sequence[Any]) -> None:
    """Put a row in the place of a bad one."""
    seal = SEALS[bad.table.name]
    row = seal.seal(dict(zip(seal.names, values)))
    for column in bad.table.c:
        if isinstance(column.type, sa.Boolean) and row[column.name] is not None:
            row[column.name] = bool(row[column.name])
    connection.execute(bad.table.delete().where(*this_row(connection, bad)))
    connection.execute(insert_missing(connection, bad.table), row)


def _mend_revisions(connection: Connection) -> None:
    """Make each site's revision one that its own guard confirms and no row is above."""
    sites = schema.sites
    for row in connection.execute(sa.select(sites)).all():
        newest = [
            connection.execute(sa.select(sa.func.max(table.c.revision)).where(table.c.site == row.name)).scalar_one()
            for table in (*schema.LOGGED, schema.tombstones)
        ]
        revision = max([row.revision, *(number for number in newest if number is not None)])
        if row.revision + row.revision_check:
            revision = max(revision, -row.revision_check)
        if (revision, -revision) != (row.revision, row.revision_check):
            here = sites.update().where(sites.c.name == row.name)
            connection.execute(here.values(revision=revision, revision_check=-revision))


def _bring_back(
    connection: Connection, site: str, waiting: Quarantined, dead: dict[str, Tombstone], done: Mending
) -> None:
    """Put a row of the quarantine back where it was, if it can be mended and no other has taken its place."""
    table, seal = waiting.row.table, SEALS[waiting.row.table.name]
    values = mended_values(seal, waiting.row.values)
    if values is None:
        return
    row = seal.seal(dict(zip(seal.names, values)))
    if not is_buried(table.name, row, dead):
        done.brought_back += connection.execute(insert_missing(connection, table), row).rowcount
    away = schema.quarantine
    connection.execute(away.delete().where(away.c.site == site, away.c.id == waiting.id))


def mend_images(folders: Folders, done: Mending) -> None:
    """Mend the picture files; remove those that cannot be."""
    for path in list(damaged_images(folders)):
        if mend_image(path):
            done.images_mended += 1
        else:
            done.images_removed += 1

"""Online backup into one SQLite file, whatever the database, and the way back."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from memory_node.domain.clock import Clock, system_clock
from memory_node.domain.errors import StoreError
from memory_node.domain.private_files import create_private
from memory_node.store import copying, schema
from memory_node.store.apply import notify
from memory_node.store.checksums import sealed
from memory_node.store.engine import (
    for_writing,
    leave_wal,
    open_copy,
    open_engine,
    parse_url,
    sqlite_path,
)
from memory_node.store.errors import InvalidImportError, StoreVersionError
from memory_node.store.reader import reading
from memory_node.store.versioning import prepare


def backup(engine: Engine, site: str, target: Path, clock: Clock = system_clock) -> None:
    """Write a consistent copy of the site's memory to `target`, while others go on writing.

    Raises:
        StoreError: the target exists.
    """
    target = target.absolute()
    if target.exists():
        raise StoreError(f"{target} exists already; a backup does not overwrite, give another name")
    partial = target.with_name(target.name + ".part")
    partial.unlink(missing_ok=True)
    create_private(partial)
    source = sqlite_path(engine.url)
    try:
        if source is None:
            _copy_rows(engine, site, partial, clock)
        else:
            _copy_pages(source, partial)
        os.replace(partial, target)
    finally:
        partial.unlink(missing_ok=True)
    register(engine, site, target, "backup", clock)


def register(engine: Engine, site: str, path: Path, kind: str, clock: Clock = system_clock) -> None:
    """Note a file that now holds this memory's content, so that forgetting reaches it or tells of it."""
    artifacts = schema.artifacts
    with for_writing(engine.connect()) as connection, connection.begin():
        connection.execute(artifacts.delete().where(artifacts.c.site == site, artifacts.c.path == str(path)))
        row = {"site": site, "path": str(path), "kind": kind, "made_ns": clock()}
        connection.execute(artifacts.insert(), sealed(artifacts, row))


def _copy_pages(source: Path, target: Path) -> None:
    origin = sqlite3.connect(f"file:{source}?mode=ro", uri=True)
    copy = sqlite3.connect(target)
    try:
        origin.backup(copy)
        verdict = copy.execute("PRAGMA quick_check").fetchone()[0]
    finally:
        copy.close()
        origin.close()
    leave_wal(target)
    if verdict != "ok":
        raise StoreError(f"the copy is damaged ({verdict}); run `memory-node store check` on the original")


def _copy_rows(engine: Engine, site: str, target: Path, clock: Clock) -> None:
    copy = open_engine(parse_url(target))
    try:
        prepare(copy, site, clock)
        with reading(engine) as source, for_writing(copy.connect()) as connection, connection.begin():
            copying.copy_site(source, site, connection, site)
    finally:
        copy.dispose()
    leave_wal(target)


def restore(engine: Engine, site: str, source: Path, robot_id: str, replace: bool = False) -> dict[str, int]:
    """Bring a backup's facts into the site; return the rows by table. All of it or nothing.

    replace: remove what the site holds first. What the site has forgotten since does not come back.

    Raises:
        InvalidImportError: no backup of ours, damaged, or of another schema.
        StoreError: the site holds facts and `replace` is not given.
    """
    if not source.is_file():
        raise InvalidImportError(f"there is no backup {source}")
    origin = open_copy(source)
    try:
        with origin.connect() as connection:
            origin_site = _inspect(connection, source)
        with origin.connect() as copy, for_writing(engine.connect()) as target, target.begin():
            if not replace and not copying.is_empty(target, site):
                raise StoreError(f"site {site!r} holds facts already; restore elsewhere, or replace them (--replace)")
            copying.clear_site(target, site)
            counts = copying.copy_site(copy, origin_site, target, site)
            revision = target.execute(
                sa.select(schema.sites.c.revision).where(schema.sites.c.name == site)
            ).scalar_one()
            notify(target, site, robot_id, revision)
        return counts
    finally:
        origin.dispose()


def _inspect(connection: Connection, source: Path) -> str:
    """Return the site of a backup after looking whether it is whole and of this schema."""
    try:
        verdict = connection.execute(sa.text("PRAGMA quick_check")).scalar_one()
        if verdict != "ok":
            raise InvalidImportError(f"{source} is damaged: {verdict}")
        version = connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalar_one()
        site = connection.execute(sa.select(schema.sites.c.name)).scalar_one()
    except sa.exc.SQLAlchemyError as error:
        raise InvalidImportError(f"{source} is no backup of robot_memory: {error}") from error
    if version != schema.SCHEMA_VERSION:
        advice = "open it once with `memory-node store info` to migrate it"
        if version > schema.SCHEMA_VERSION:
            advice = "install a newer robot_memory"
        raise StoreVersionError(f"{source} has schema {version}, this program {schema.SCHEMA_VERSION}; {advice}")
    return site

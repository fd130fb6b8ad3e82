"""Online backup into one SQLite file, whatever the database, and the way back."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from memory_node.domain.clock import Clock, system_clock
from memory_node.domain.errors import InvalidValueError, StoreError
from memory_node.domain.resources import create_private
from memory_node.store import copying, schema
from memory_node.store.address import parse_url, sqlite_path
from memory_node.store.apply import notify
from memory_node.store.bad_rows import BadRows
from memory_node.store.checksums import sealed
from memory_node.store.config import StoreConfig
from memory_node.store.engine import (
    DATABASE_ERRORS,
    copy_pages,
    for_writing,
    leave_wal,
    open_engine,
    open_for_reading,
    reason_of,
)
from memory_node.store.errors import (
    ForeignFileError,
    InvalidImportError,
    StoreUnavailableError,
    StoreVersionError,
)
from memory_node.store.export_log import NAME
from memory_node.store.inspection import OpenedStore, open_to_read
from memory_node.store.quarantine import put_row_away
from memory_node.store.reader import lenient_text, reading, revision_of
from memory_node.store.versioning import identity_of, prepare

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,199}", re.ASCII)
# What lies in the data folder already, or comes to lie there.
RESERVED = frozenset({"images", "crops", "derived", "backups", "indexes", NAME})


def backup_file(data: Path, name: str) -> Path:
    """Return the path of a backup in the store's data folder; a caller of the service must not write elsewhere.

    Raises:
        InvalidValueError: the name is no plain file name, or the store's own.
    """
    if not _NAME.fullmatch(name) or name in RESERVED:
        raise InvalidValueError(
            f"backup_path {name[:100]!r}: expected a file name of at most 200 letters, digits, '.', '-' and '_' that "
            f"does not begin with '.' or '-' and is none of {', '.join(sorted(RESERVED))}"
        )
    return data / name


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
            copy_pages(source, partial)
        os.replace(partial, target)
    finally:
        partial.unlink(missing_ok=True)
    register(engine, site, target, "backup", clock)
    # Forgetting cleans the backups that are registered: this one may have been copied before, and registered after.
    if not _knows_all_forgettings(engine, site, target):
        target.unlink()
        raise StoreError("something was forgotten while the backup was made; make it again")


def _knows_all_forgettings(engine: Engine, site: str, copied: Path) -> bool:
    query = sa.select(schema.forgettings.c.id).where(schema.forgettings.c.site == site)
    copy = open_for_reading(copied)
    try:
        with engine.connect() as connection, copy.connect() as other:
            return set(connection.execute(query).scalars()) <= set(other.execute(query).scalars())
    finally:
        copy.dispose()


def register(engine: Engine, site: str, path: Path, kind: str, clock: Clock = system_clock) -> None:
    """Note a file that now holds this memory's content, so that forgetting reaches it or tells of it."""
    artifacts = schema.artifacts
    with for_writing(engine.connect()) as connection, connection.begin():
        connection.execute(artifacts.delete().where(artifacts.c.site == site, artifacts.c.path == str(path)))
        row = {"site": site, "path": str(path), "kind": kind, "made_ns": clock()}
        connection.execute(artifacts.insert(), sealed(artifacts, row))


def _copy_rows(engine: Engine, site: str, target: Path, clock: Clock) -> None:
    copy = open_engine(parse_url(target))
    try:
        prepare(copy, site, clock)
        with reading(engine) as source, for_writing(copy.connect()) as connection, connection.begin():
            bad = BadRows()
            copying.copy_site(source, site, connection, site, bad)
            for row in bad:
                put_row_away(connection, site, row, clock())
    finally:
        copy.dispose()
    leave_wal(target)


def restore(engine: Engine, site: str, source: Path, robot_id: str, replace: bool = False) -> dict[str, int]:
    """Bring a backup's facts into the site; return the rows by table. All of it or nothing; the backup stays as it is.

    replace: remove what the site holds first. What the site has forgotten since does not come back.

    Raises:
        InvalidImportError: no backup of ours, or damaged.
        StoreError: the site holds facts and `replace` is not given.
    """
    with open_backup(source) as found, for_writing(engine.connect()) as target, target.begin():
        if not replace and not copying.is_empty(target, site):
            raise StoreError(f"site {site!r} holds facts already; restore elsewhere, or replace them (--replace)")
        copying.clear_site(target, site)
        if target.dialect.name == "sqlite":
            _continue_site(found, target, site)
        bad = BadRows()
        with found.engine.connect() as copy, lenient_text(copy):
            counts = copying.copy_site(copy, found.site, target, site, bad)
        if bad:
            raise InvalidImportError(
                f"{len(bad)} rows of {source} are damaged (the first: {bad[0].reason}), nothing was restored; "
                f"run `memory-node store check --repair --database {source}`"
            )
        notify(target, site, robot_id, revision_of(target, site))
    return counts


def is_whole(path: Path) -> bool:
    """Return whether SQLite can read a store's file to its end."""
    try:
        with open_backup(path):
            return True
    except InvalidImportError:
        return False


def _continue_site(found: OpenedStore, target: Connection, site: str) -> None:
    """Let a file be the database that its backup was of, so that the journal beside it still fits."""
    with found.engine.connect() as copy:
        identity = identity_of(copy, found.site)
    row = dict(target.execute(sa.select(schema.sites).where(schema.sites.c.name == site)).mappings().one())
    changed = sealed(schema.sites, {**row, "identity": identity})
    copying.update_row(target, schema.sites, row, changed)


@contextmanager
def open_backup(source: Path) -> Iterator[OpenedStore]:
    """Give a backup to read, once its pages are seen to be whole.

    Raises:
        InvalidImportError: it is no backup of ours, or damaged.
    """
    if not source.is_file():
        raise InvalidImportError(f"there is no backup {source}")
    with ExitStack() as stack:
        try:
            found = stack.enter_context(open_to_read(parse_url(source.absolute()), "", "", StoreConfig()))
            with found.engine.connect() as connection:
                verdict = connection.execute(sa.text("PRAGMA quick_check(1)")).scalar_one()
        except (ForeignFileError, StoreVersionError, StoreUnavailableError) as error:
            raise InvalidImportError(f"no backup can be read: {error}") from error
        except DATABASE_ERRORS as error:
            raise InvalidImportError(f"{source} is damaged: {reason_of(error)}") from error
        if verdict != "ok":
            raise InvalidImportError(f"{source} is damaged: {verdict}")
        yield found

"""Online backup into one SQLite file, whatever the database, the way back, and the backups that it makes itself."""

from __future__ import annotations

import logging
import os
import re
import sqlite3
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime, timezone
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from memory_node.domain.clock import Clock, system_clock
from memory_node.domain.errors import InvalidValueError, StoreError
from memory_node.domain.resources import create_private, make_private_folder
from memory_node.store import copying, schema
from memory_node.store.apply import notify
from memory_node.store.bad_rows import BadRows
from memory_node.store.checksums import sealed
from memory_node.store.config import StoreConfig
from memory_node.store.engine import (
    DATABASE_ERRORS,
    copy_pages,
    disposed,
    for_writing,
    leave_wal,
    open_engine,
    open_for_reading,
    reason_of,
)
from memory_node.store.errors import ForeignFileError, InvalidImportError, StoreUnavailableError, StoreVersionError
from memory_node.store.inspection import OpenedStore, open_to_read
from memory_node.store.location import EXPORTS_FILE, parse_url, sqlite_path
from memory_node.store.reader import lenient_text, reading, revision_of
from memory_node.store.site_database import identity_of, prepare

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,199}", re.ASCII)
# What lies in the data folder already, or comes to lie there.
RESERVED = frozenset({"crops", "derived", "backups", "indexes", EXPORTS_FILE})


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
    with disposed(open_for_reading(copied)) as copy, engine.connect() as connection, copy.connect() as other:
        return set(connection.execute(query).scalars()) <= set(other.execute(query).scalars())


def register(engine: Engine, site: str, path: Path, kind: str, clock: Clock = system_clock) -> None:
    """Note a file that now holds this memory's content, so that forgetting reaches it or tells of it."""
    artifacts = schema.artifacts
    with for_writing(engine.connect()) as connection, connection.begin():
        connection.execute(artifacts.delete().where(artifacts.c.site == site, artifacts.c.path == str(path)))
        row = {"site": site, "path": str(path), "kind": kind, "made_ns": clock()}
        connection.execute(artifacts.insert(), sealed(artifacts, row))


def _copy_rows(engine: Engine, site: str, target: Path, clock: Clock) -> None:
    with disposed(open_engine(parse_url(target))) as copy:
        prepare(copy, site, clock)
        with reading(engine) as source, for_writing(copy.connect()) as connection, connection.begin():
            bad = BadRows()
            copying.copy_site(source, site, connection, site, bad)
    for row in bad:
        _log.error("a row cannot be read and is not in the backup: %s", row)
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


_log = logging.getLogger(__name__)
# Tries in an interval, while they fail.
_TRIES = 24
_ROTATED_NAME = "%Y-%m-%dT%H-%M-%SZ.backup"


def rotated_backups(folder: Path) -> list[Path]:
    """Return the backups in a store's folder, the newest first."""
    return sorted(folder.glob("*Z.backup"), reverse=True)


class BackupRotation:
    """Makes backups of a site's file, each checked by SQLite before an older one goes.

    interval_s: 0 makes none; it is counted by the wall clock, also while the robot is off.
    """

    def __init__(self, engine: Engine, site: str, folder: Path, interval_s: float, kept: int, clock: Clock) -> None:
        self._engine = engine
        self._site = site
        self._folder = folder
        self._interval_s = interval_s
        self._kept = kept
        self._clock = clock
        # The monotonic time before which no other one is tried.
        self._next = float("-inf")
        self.trouble = ""

    def is_due(self) -> bool:
        """Return whether the newest backup is older than the interval."""
        if not self._interval_s or time.monotonic() < self._next:
            return False
        newest = rotated_backups(self._folder)
        # A backup from the future was made before the clock was set back.
        return not newest or not 0.0 <= time.time() - _made_s(newest[0]) < self._interval_s

    def make(self) -> Path | None:
        """Make a backup, and remove those beyond the number that is kept; None where it failed, see `trouble`."""
        self._next = time.monotonic() + self._interval_s / _TRIES
        made = self._folder / datetime.now(timezone.utc).strftime(_ROTATED_NAME)
        try:
            make_private_folder(self._folder)
            self._require_space()
            backup(self._engine, self._site, made, self._clock)
            others = [path for path in rotated_backups(self._folder) if path != made]
            for path in others[self._kept - 1 :]:
                self._remove(path)
        except (StoreError, sa.exc.SQLAlchemyError, sqlite3.Error, OSError) as error:
            self.trouble = reason_of(error)
            _log.error("no backup could be made, the older ones stay: %s", self.trouble)
            return None
        self._next = time.monotonic() + self._interval_s
        self.trouble = ""
        _log.info("backup %s made", made)
        return made

    def _require_space(self) -> None:
        disk, size_bytes = os.statvfs(self._folder), Path(str(self._engine.url.database)).stat().st_size
        if disk.f_bavail * disk.f_frsize < 2 * size_bytes:
            raise StoreError(f"{self._folder} has no room for two backups of {size_bytes / 2**20:.0f} MiB")

    def _remove(self, path: Path) -> None:
        path.unlink()
        artifacts = schema.artifacts
        with for_writing(self._engine.connect()) as connection, connection.begin():
            connection.execute(artifacts.delete().where(artifacts.c.site == self._site, artifacts.c.path == str(path)))


def _made_s(path: Path) -> float:
    """Return when a backup was made, by its name: forgetting in it changes the file's own time."""
    try:
        return datetime.strptime(path.name, _ROTATED_NAME).replace(tzinfo=timezone.utc).timestamp()
    except ValueError:
        return 0.0

"""Looks after the files of a running store: backups and the write-ahead log of SQLite, the local copy of a server's."""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from memory_node.domain.clock import Clock
from memory_node.domain.errors import StoreError
from memory_node.store import copying, schema
from memory_node.store.apply import put_rows, replay
from memory_node.store.backup import BackupRotation
from memory_node.store.checksums import sealed
from memory_node.store.engine import (
    LOG_LIMIT_BYTES,
    copy_pages,
    database_files,
    disposed,
    for_writing,
    leave_wal,
    log_bytes,
    open_engine,
    open_for_reading,
)
from memory_node.store.location import parse_url
from memory_node.store.reader import reading, revision_of
from memory_node.store.records import Batch
from memory_node.store.site_database import prepare

_log = logging.getLogger(__name__)
# Between two chunks of rows, so that copying a large site leaves the processor to the robot (s).
_PAUSE_S = 0.02
# A server that says nothing for so long is away (s).
_QUIET_LIMIT_S = 10.0


class LocalCopy:
    """The rows of a site as of the last `update`, a SQLite file; robot_id: whose journal is read with it."""

    def __init__(self, path: Path, site: str, robot_id: str, clock: Clock) -> None:
        self._path = path
        self._site = site
        self._robot_id = robot_id
        self._clock = clock
        self._updating = threading.Lock()
        # Held while the file comes, goes or is copied; never while a server is waited for.
        self._lock = threading.Lock()
        self._read: tuple[object, Engine] | None = None

    @property
    def exists(self) -> bool:
        """Whether there is one."""
        return self._path.is_file()

    def update(self, server: Engine) -> None:
        """Bring it up to date: what changed since the last time, or all of it after something was forgotten.

        Raises:
            StoreUnavailableError, sqlalchemy.exc.SQLAlchemyError, OSError: it cannot be now.
        """
        with self._updating, reading(server, quiet_limit_s=_QUIET_LIMIT_S) as source:
            if self.exists and not self._is_older(source):
                with self._lock:
                    _remove(self._path)
            path = self._path if self.exists else self._path.with_name(self._path.name + ".part")
            if not self.exists:
                _remove(path)
            with disposed(open_engine(parse_url(path))) as copy:
                prepare(copy, self._site, self._clock)
                with for_writing(copy.connect()) as target, target.begin():
                    self._copy(source, target)
            if path != self._path:
                leave_wal(path)
                with self._lock:
                    os.replace(path, self._path)

    def _is_older(self, source: Connection) -> bool:
        """Return whether the server goes on from what the copy holds, and nothing was forgotten since."""
        table = schema.forgettings
        query = sa.select(table.c.id).where(table.c.site == self._site)
        try:
            with disposed(open_for_reading(self._path)) as copy, copy.connect() as target:
                same = set(source.execute(query).scalars()) == set(target.execute(query).scalars())
                return same and revision_of(target, self._site) <= revision_of(source, self._site)
        except sa.exc.SQLAlchemyError:
            return False  # a damaged copy is made anew

    def _copy(self, source: Connection, target: Connection) -> None:
        site, sites = self._site, schema.sites
        since, newest = revision_of(target, site), revision_of(source, site)
        if since == newest:
            return
        for table in (schema.sessions, schema.forgettings, schema.tombstones, *schema.LOGGED):
            newer = table.c.revision > since if "revision" in table.c else sa.true()
            query = sa.select(table).where(table.c.site == site, newer).execution_options(yield_per=copying.CHUNK)
            for chunk in source.execute(query).mappings().partitions(copying.CHUNK):
                put_rows(target, table, [dict(row) for row in chunk])
                time.sleep(_PAUSE_S)
        row: dict[str, Any] = dict(source.execute(sa.select(sites).where(sites.c.name == site)).mappings().one())
        copying.update_row(target, sites, row, sealed(sites, {**row, "revision": newest, "revision_check": -newest}))

    def engine(self, waiting: Iterable[Batch], key: object) -> Engine:
        """Return a database to read: the copy, or an empty one, with what waits in the journal.

        key: another one when other batches wait.
        """
        with self._lock:
            stamp = (key, self._path.stat().st_mtime_ns if self.exists else 0)
            if self._read is not None and self._read[0] == stamp:
                return self._read[1]
            shown = self._path.with_name(self._path.name + ".shown")
            self.close()
            _remove(shown)
            if self.exists:
                copy_pages(self._path, shown, alone=False)
            self._replay(shown, waiting)
            self._read = (stamp, open_for_reading(shown))
            return self._read[1]

    def _replay(self, shown: Path, waiting: Iterable[Batch]) -> None:
        with disposed(open_engine(parse_url(shown))) as engine:
            prepare(engine, self._site, self._clock)
            with for_writing(engine.connect()) as connection:
                marker = revision_of(connection, self._site)
                connection.commit()
                replay(connection, self._site, self._robot_id, waiting)
                # What the server has after it is still to come.
                here = schema.sites.update().where(schema.sites.c.name == self._site)
                connection.execute(here.values(revision=marker, revision_check=-marker))
                connection.commit()
        leave_wal(shown)

    def close(self) -> None:
        """Let go of what `engine` gave."""
        if self._read is not None:
            self._read[1].dispose()
            self._read = None


def try_update(copy: LocalCopy, server: Engine) -> None:
    """Bring a local copy up to date if that can be done now."""
    try:
        copy.update(server)
    except (StoreError, sa.exc.SQLAlchemyError, sqlite3.Error, OSError) as error:
        _log.debug("the local copy of the site stays as it is: %s", error)


def _remove(path: Path) -> None:
    for file in database_files(path):
        file.unlink(missing_ok=True)


# Ten times what a busy store writes between two checkpoints: somebody keeps SQLite from emptying the log.
_LARGE_LOG_BYTES = 10 * LOG_LIMIT_BYTES


class FileCare:
    """What a SQLite file needs. commits: how many there were so far, by which it knows when the store is idle."""

    def __init__(self, path: Path, rotation: BackupRotation, commits: Callable[[], int]) -> None:
        self._path = path
        self._rotation = rotation
        self._commits = commits
        self._seen = -1

    @property
    def log_bytes(self) -> int:
        """The size of the write-ahead log."""
        return log_bytes(self._path)

    @property
    def warning(self) -> str:
        """What a person should do something about; "" for nothing."""
        found = [f"no backup: {self._rotation.trouble}"] if self._rotation.trouble else []
        if self.log_bytes > _LARGE_LOG_BYTES:
            size = f"{self.log_bytes / 2**20:.0f} MiB"
            found.append(
                f"the write-ahead log {self._path}-wal has {size}: another program has been reading the file for long "
                "and keeps it from being emptied; end that program"
            )
        return "; ".join(found)

    def look(self) -> None:
        """Do what is due: empty a large log when nothing was committed since the last look, make a backup."""
        commits, self._seen = self._seen, self._commits()
        if commits == self._seen and self.log_bytes > 0:
            empty_log(self._path)
        if self._rotation.is_due():
            self._rotation.make()


def empty_log(path: Path) -> bool:
    """Bring a SQLite file's write-ahead log into it and make that empty; False while somebody reads from it."""
    with closing(
        sqlite3.connect(f"file:{quote(str(path.absolute()))}?mode=rw", uri=True, timeout=0.05, isolation_level=None)
    ) as database:
        return not database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]

"""Backups that a store of a SQLite file makes by itself: one each interval, the newest few are kept."""

from __future__ import annotations

import logging
import os
import sqlite3
import time
from datetime import datetime, timezone
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.engine import Engine

from memory_node.domain.clock import Clock
from memory_node.domain.errors import StoreError
from memory_node.domain.resources import make_private_folder
from memory_node.store import schema
from memory_node.store.backup import backup
from memory_node.store.engine import for_writing, reason_of

_log = logging.getLogger(__name__)
# Tries in an interval, while they fail.
_TRIES = 24
_NAME = "%Y-%m-%dT%H-%M-%SZ.backup"


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
        made = self._folder / datetime.now(timezone.utc).strftime(_NAME)
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
        return datetime.strptime(path.name, _NAME).replace(tzinfo=timezone.utc).timestamp()
    except ValueError:
        return 0.0

"""Looks after the files of a running store: backups and the write-ahead log of SQLite, the local copy of a server's."""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from memory_node.domain.process import WorkerThread
from memory_node.store.backup_rotation import BackupRotation
from memory_node.store.engine import LOG_LIMIT_BYTES, log_bytes

_log = logging.getLogger(__name__)
# Ten times what a busy store writes between two checkpoints: somebody keeps SQLite from emptying the log.
_LARGE_LOG_BYTES = 10 * LOG_LIMIT_BYTES


class StoreKeeper:
    """A thread beside the writer's.

    Args:
        look: does what is due.
        first_s: time until the first look.
        each_s: time between two looks.
    """

    def __init__(self, look: Callable[[], object], first_s: float, each_s: float) -> None:
        self._look = look
        self._waits = (first_s, each_s)
        self._stopping = threading.Event()
        self._thread = WorkerThread("store-keeper", self._run)

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def close(self, timeout_s: float = 30.0) -> None:
        """Stop to look; what is in work is finished."""
        self._stopping.set()
        self._thread.join(timeout_s)

    def _run(self) -> None:
        wait_s, each_s = self._waits
        while not self._stopping.wait(wait_s):
            wait_s = each_s
            try:
                self._look()
            except (sqlite3.Error, OSError) as error:
                # The writer reports a database in trouble.
                _log.debug("the store's file cannot be looked after now: %s", error)


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

"""Reads the bytes of a SQLite file without ending the locks that this process holds on it.

When a process closes any descriptor of a file, all its fcntl locks on that file end, SQLite's too. The next program
that opens and closes the file then takes itself for the only one and deletes the write-ahead log, which is still
written to: what is committed afterwards is lost. See https://www.sqlite.org/howtocorrupt.html, section 2.2, and
fcntl(2). So a descriptor that was opened here stays open until its file is deleted.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_held: dict[tuple[int, int], int] = {}
_lock = threading.Lock()


@contextmanager
def held(path: Path) -> Iterator[int]:
    """Give a descriptor to read a file with (`os.pread`), one reader at a time; nobody may close it.

    Raises:
        OSError: the file cannot be opened.
    """
    with _lock:
        _close_deleted()
        descriptor = _held.get(_identity(os.stat(path)))
        if descriptor is None:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            _held[_identity(os.fstat(descriptor))] = descriptor
        yield descriptor


def _close_deleted() -> None:
    for identity, descriptor in list(_held.items()):
        if os.fstat(descriptor).st_nlink == 0:
            os.close(_held.pop(identity))


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino

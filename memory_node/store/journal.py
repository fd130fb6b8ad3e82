"""The bounded journal on disk. It keeps batches in order while the database accepts none.

Its space is reserved when it is opened, so that a full disk does not take it away. One process at a time holds it,
which also makes sure that a robot has one writer.
"""

from __future__ import annotations

import base64
import errno
import fcntl
import json
import os
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memory_node.domain.resources import create_private
from memory_node.store.errors import ForeignJournalError, StoreInUseError
from memory_node.store.records import Batch

# A frame: length of the payload, its CRC-32, payload. A length of 0 ends the journal.
_HEAD = struct.Struct("<II")
# The key beside the tables of a frame under which its database's identity stands.
_IDENTITY = "$database"


def _pack(value: Any) -> Any:
    return {"$bytes": base64.b64encode(value).decode()}


def _unpack(value: dict[str, Any]) -> Any:
    return base64.b64decode(value["$bytes"]) if "$bytes" in value else value


def encode_batch(batch: Batch, identity: str = "") -> bytes:
    """Return a batch as JSON bytes; identity: of the database that it is for, "" where that is not known yet."""
    tables = {table: list(rows.items()) for table, rows in batch.items()}
    return json.dumps({_IDENTITY: identity, **tables}, default=_pack).encode()


def decode_batch(payload: bytes) -> tuple[str, Batch]:
    """Return what `encode_batch` was given: identity and batch."""
    tables = json.loads(payload, object_hook=_unpack)
    identity = tables.pop(_IDENTITY, "")
    return identity, {table: {tuple(key): row for key, row in rows} for table, rows in tables.items()}


def waiting_batches(path: Path) -> list[tuple[str, Batch]]:
    """Return what waits in a journal that somebody else may hold, oldest first, each with its database's identity."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return [
            decode_batch(os.pread(descriptor, size - _HEAD.size, offset + _HEAD.size))
            for offset, size in frames_of(descriptor)
        ]
    finally:
        os.close(descriptor)


def frames_of(descriptor: int) -> Iterator[tuple[int, int]]:
    """Yield (offset, size) of each whole frame; a torn last one was never acknowledged."""
    offset = 0
    while len(head := os.pread(descriptor, _HEAD.size, offset)) == _HEAD.size:
        length, checksum = _HEAD.unpack(head)
        payload = os.pread(descriptor, length, offset + _HEAD.size)
        if length == 0 or len(payload) < length or zlib.crc32(payload) != checksum:
            return
        yield offset, _HEAD.size + length
        offset += _HEAD.size + length


def torn_bytes(path: Path) -> int:
    """Return how many bytes of a journal, from the end of its last whole frame on, are not as an empty one's."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        end = max((offset + size for offset, size in frames_of(descriptor)), default=0)
        rest = os.pread(descriptor, os.fstat(descriptor).st_size - end, end)
        return len(rest.strip(b"\0"))
    finally:
        os.close(descriptor)


class Journal:
    """A file of fixed size that holds batches in order; not thread-safe.

    identity: of the database that what is appended is for; "" where it is not known yet.
    """

    def __init__(self, path: Path, capacity_bytes: int, identity: str = "") -> None:
        self.path = path
        self.identity = identity
        self.capacity_bytes = capacity_bytes
        self._descriptor = -1
        self._frames: list[tuple[int, int]] = []
        # Of the databases that the frames are for.
        self._identities: set[str] = set()
        # Of the frames that wait.
        self.used_bytes = 0
        self._reserved = False

    def open(self) -> None:
        """Open or create the file, take its lock and find what waits in it; nothing when it is open.

        Raises:
            StoreInUseError: another process holds it.
            OSError: its folder cannot be written.
        """
        if self._descriptor >= 0:
            return
        create_private(self.path)
        descriptor = os.open(self.path, os.O_RDWR | os.O_CLOEXEC)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            raise StoreInUseError(f"another process writes this memory already (it holds {self.path})") from None
        self._descriptor = descriptor
        self.capacity_bytes = max(self.capacity_bytes, os.fstat(self._descriptor).st_size)
        self._frames = list(frames_of(self._descriptor))
        self._identities = {self._read(frame)[0] for frame in self._frames}
        self.used_bytes = sum(self._frames[-1]) if self._frames else 0
        if os.pread(self._descriptor, _HEAD.size, self.used_bytes).strip(b"\0"):
            # A frame that a crash tore: it was never acknowledged, and must not lie there for ever.
            os.ftruncate(self._descriptor, self.used_bytes)
        # A disk that is full already leaves the reservation short; append() then says so.
        self._reserved = self._reserve()

    def _reserve(self) -> bool:
        try:
            os.posix_fallocate(self._descriptor, 0, self.capacity_bytes)
        except OSError:
            return False
        return True

    def __len__(self) -> int:
        return len(self._frames)

    def append(self, batch: Batch) -> bool:
        """Add a batch and wait until it is on the disk; False when there is no room for it.

        Raises:
            OSError: the disk refuses the write, or refused to open it.
        """
        self.open()
        payload = encode_batch(batch, self.identity)
        frame = _HEAD.pack(len(payload), zlib.crc32(payload)) + payload
        # The end mark must fit behind it.
        if self.used_bytes + len(frame) + _HEAD.size > self.capacity_bytes:
            return False
        self._write(frame + bytes(_HEAD.size), self.used_bytes)
        self._frames.append((self.used_bytes, len(frame)))
        self._identities.add(self.identity)
        self.used_bytes += len(frame)
        return True

    def _write(self, data: bytes, offset: int) -> None:
        if os.pwrite(self._descriptor, data, offset) < len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))
        os.fdatasync(self._descriptor)

    def batches(self, first: int = 0) -> Iterator[Batch]:
        """Yield the waiting batches from a number on, oldest first."""
        for frame in self._frames[first:]:
            yield self._read(frame)[1]

    def require_own(self) -> None:
        """Look whether all that waits is for this journal's database, or was written before that was known.

        Raises:
            ForeignJournalError: some of it is for another one.
        """
        if self.identity and self._identities - {"", self.identity}:
            raise ForeignJournalError(
                f"the journal {self.path} holds entries for another database than this one, which does not get them; "
                "point the robot to the other one until they are written, or move the journal away"
            )

    def _read(self, frame: tuple[int, int]) -> tuple[str, Batch]:
        offset, size = frame
        return decode_batch(os.pread(self._descriptor, size - _HEAD.size, offset + _HEAD.size))

    def clear(self) -> None:
        """Empty it; the bytes are overwritten because they may be forgotten later."""
        if self.used_bytes:
            self._write(bytes(self.used_bytes + _HEAD.size), 0)
        self._frames.clear()
        self._identities.clear()
        self.used_bytes = 0
        if not self._reserved:
            self._reserved = self._reserve()

    def close(self) -> None:
        """Let go of it."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

"""Creates files and folders that only their owner may read: memory is private data about people's homes."""

from __future__ import annotations

import hashlib
import os
import re
import zlib
from pathlib import Path

_NAME = re.compile(r"[0-9a-f]{32}-([0-9a-f]{8})\.jpg")


def picture_prefix(record_id: str) -> str:
    """Return how the names of a thing's pictures begin: a digest, which is safe whatever the id contains."""
    return hashlib.sha256(record_id.encode(errors="surrogatepass")).hexdigest()[:32]


def picture_name(record_id: str, jpeg: bytes) -> str:
    """Return the file name of a picture of a thing; it holds the CRC-32 of the bytes."""
    return f"{picture_prefix(record_id)}-{zlib.crc32(jpeg):08x}.jpg"


def noted_checksum(path: Path) -> int | None:
    """Return the CRC-32 that a picture's name tells; None for a file with another name."""
    match = _NAME.fullmatch(path.name)
    return int(match[1], 16) if match else None


def make_private_folder(folder: Path) -> None:
    """Make a folder, and what is missing above it, that only its owner enters (0700); what is there stays as it is."""
    for missing in reversed([folder, *folder.parents]):
        missing.mkdir(exist_ok=True, mode=0o700)


def create_private(path: Path) -> None:
    """Make `path` a file that only its owner reads and writes (0600), creating it and its folder if need be.

    A file that is there is not opened: closing it would end the locks that SQLite has on it in this process.
    """
    path = Path(os.path.realpath(path))
    make_private_folder(path.parent)
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        if not path.is_file():
            raise
        path.chmod(0o600)  # where nothing can be written, this says why

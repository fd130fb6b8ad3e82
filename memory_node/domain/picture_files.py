"""Names of picture files: whose picture it is, and what its bytes must be."""

from __future__ import annotations

import hashlib
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

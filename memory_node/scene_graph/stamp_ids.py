"""Ids that the same frames produce again, so that a replay gives the same graph."""

from __future__ import annotations

import hashlib
import uuid


class StampIds:
    """Makes UUIDv7 text (RFC 9562) from a stamp, a running number and a seed such as the robot's id."""

    def __init__(self, seed: str = "") -> None:
        self._seed = seed
        self._count = 0

    def __call__(self, stamp_ns: int) -> str:
        """Return the next id for something born at `stamp_ns`."""
        self._count += 1
        digest = hashlib.blake2b(f"{self._seed}/{stamp_ns}/{self._count}".encode(), digest_size=10).digest()
        value = (max(0, stamp_ns) // 1_000_000 & (1 << 48) - 1) << 80 | int.from_bytes(digest, "big")
        value = value & ~(0xF << 76) | 0x7 << 76  # version 7
        value = value & ~(0x3 << 62) | 0x2 << 62  # RFC variant
        return str(uuid.UUID(int=value))

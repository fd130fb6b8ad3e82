"""Stable ids: UUIDv7 text, sortable by time of birth, unique across robots."""

from __future__ import annotations

from collections.abc import Callable

import uuid6

IdSource = Callable[[], str]


def new_id() -> str:
    """Return a fresh UUIDv7 (RFC 9562) as its canonical text."""
    return str(uuid6.uuid7())

"""Bytes as JSON: {"base64": ...}."""

from __future__ import annotations

import base64
from typing import Any


def with_bytes_packed(value: Any) -> Any:
    """Return a value of a row as JSON holds it."""
    return {"base64": base64.b64encode(value).decode()} if isinstance(value, bytes) else value


def with_bytes_unpacked(value: Any) -> Any:
    """Return what `with_bytes_packed` was given.

    Raises:
        ValueError: what stands for bytes is no base64.
    """
    if isinstance(value, dict) and set(value) == {"base64"}:
        try:
            return base64.b64decode(value["base64"], validate=True)
        except (ValueError, TypeError) as error:
            raise ValueError(f"expected base64: {error}") from error
    return value

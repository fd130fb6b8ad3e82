"""Addresses of databases: the one place that reads them, and shows them without their secrets."""

from __future__ import annotations

import re
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.engine import URL, make_url

from memory_node.domain.errors import StoreError

_SECRET = re.compile(
    r"(://[^/?#\s@]*?:)[^/?#\s]*@|([?&;\s][^=&;\s]*pass(?:word|wd|phrase)[^=&;\s]*=)[^&;\s]*", re.IGNORECASE
)
_IN_PROCESS = frozenset({"", ":memory:", "sqlite://", "sqlite:///:memory:"})


def is_in_process(text: str) -> bool:
    """Return whether an address names no database but a memory that lives in the process alone."""
    return text.strip() in _IN_PROCESS


def is_server(text: str) -> bool:
    """Return whether an address is a server's, not a file's."""
    return "://" in text and not text.startswith("sqlite")


def redacted(text: str) -> str:
    """Return a text in which passwords of addresses are replaced by ***."""
    return _SECRET.sub(lambda match: f"{match[1]}***@" if match[1] else f"{match[2]}***", text)


def parse_url(url_or_path: str | Path) -> URL:
    """Return the SQLAlchemy URL of a path, a `sqlite:///` or a `postgresql://` address.

    Raises:
        StoreError: another kind of database, a password in the address, or an option that means nothing.
    """
    text = str(url_or_path)
    try:
        url = (
            make_url(text) if "://" in text else URL.create("sqlite", database=str(Path(text).expanduser().absolute()))
        )
    except (sa.exc.ArgumentError, ValueError) as error:
        raise StoreError(f"expected a SQLite file or a postgresql:// address, got {redacted(text)}") from error
    if url.password is not None or any("password" in key.lower() for key in url.query):
        raise StoreError(
            "the store's address holds a password, which process lists and logs would show; "
            "take it out and set PGPASSWORD or write it to ~/.pgpass"
        )
    backend = url.get_backend_name()
    if backend == "postgresql":
        prepare_threshold(url)
        return url.set(drivername="postgresql+psycopg")
    if backend != "sqlite" or is_in_process(url.database or ""):
        raise StoreError(f"expected a SQLite file or a postgresql:// address, got {redacted(text)}")
    return url


def prepare_threshold(url: URL) -> dict[str, int | None]:
    """Return psycopg's option as an address says it; "none" prepares no statement, as some poolers need it.

    Raises:
        StoreError: it is neither none nor a number.
    """
    text = str(url.query.get("prepare_threshold", ""))
    if not text:
        return {}
    if text.lower() != "none" and not text.isdecimal():
        raise StoreError(f"prepare_threshold: expected a whole number or none, got {text[:40]!r}")
    return {"prepare_threshold": None if text.lower() == "none" else int(text)}


def sqlite_path(url: URL) -> Path | None:
    """Return the file of a SQLite address, None for a server."""
    return Path(str(url.database)) if url.get_backend_name() == "sqlite" else None

"""Opens a database: which one, with which rights, and how its transactions begin."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import Any
from urllib.parse import quote

import sqlalchemy as sa
from sqlalchemy.engine import URL, Connection, Engine, make_url

from memory_node.domain.errors import StoreError

# Bytes 68..71 of a SQLite file: "rmem".
APPLICATION_ID = 0x726D656D


def parse_url(url_or_path: str | Path) -> URL:
    """Return the SQLAlchemy URL of a path, a `sqlite:///` or a `postgresql://` address.

    Raises:
        StoreError: another kind of database, or a password in the address.
    """
    text = str(url_or_path)
    url = make_url(text) if "://" in text else URL.create("sqlite", database=str(Path(text).expanduser().absolute()))
    if url.password is not None or "password" in url.query:
        raise StoreError(
            "the store's address holds a password, which process lists and logs would show; "
            "take it out and set PGPASSWORD or write it to ~/.pgpass"
        )
    backend = url.get_backend_name()
    if backend == "postgresql":
        return url.set(drivername="postgresql+psycopg")
    if backend != "sqlite" or url.database in (None, "", ":memory:"):
        raise StoreError(f"expected a SQLite file or a postgresql:// address, got {url.render_as_string()}")
    return url


def sqlite_path(url: URL) -> Path | None:
    """Return the file of a SQLite address, None for a server."""
    return Path(str(url.database)) if url.get_backend_name() == "sqlite" else None


def open_engine(url: URL, busy_timeout_s: float = 2.0) -> Engine:
    """Return an engine; nothing is connected yet. TLS options of the address (sslmode, sslrootcert) pass through."""
    path = sqlite_path(url)
    if path is not None:
        return _sqlite_engine(path, busy_timeout_s)
    defaults = {
        "connect_timeout": 3,
        "keepalives_idle": 5,
        "tcp_user_timeout": 5000,
        "application_name": "robot_memory",
    }
    arguments: dict[str, Any] = {key: value for key, value in defaults.items() if key not in url.query}
    return sa.create_engine(url, connect_args=arguments, pool_size=3)


def _sqlite_address(path: Path) -> str:
    """Return the address of a file that is there; where its folder cannot be written, one that only reads.

    mode=rw: a file that is not there is an error, never a new and empty memory.
    """
    address = f"file:{quote(str(path.absolute()))}"
    if os.access(path.parent, os.W_OK):
        return f"{address}?mode=rw"
    # Without a log beside it nothing can have been left in one, and none can be made to find that out.
    immutable = "" if path.with_name(path.name + "-wal").exists() else "&immutable=1"
    return f"{address}?mode=ro{immutable}"


def open_copy(path: Path) -> Engine:
    """Return an engine that only reads a SQLite file and leaves no trace beside it."""
    address = f"file:{quote(str(path.absolute()))}?mode=ro"
    return sa.create_engine("sqlite://", creator=lambda: sqlite3.connect(address, uri=True), poolclass=sa.pool.NullPool)


def is_ours(path: Path) -> bool:
    """Return whether a file is this program's, or empty; somebody else's is opened, but not changed."""
    try:
        with open(path, "rb") as file:
            header = file.read(72)
    except OSError:
        return False  # connecting says why
    return not header or header[68:] == APPLICATION_ID.to_bytes(4, "big")


def _sqlite_engine(path: Path, busy_timeout_s: float) -> Engine:
    def connect() -> sqlite3.Connection:
        # sqlite3 must not begin transactions on its own (isolation_level): _begin below says which kind.
        options: dict[str, Any] = {"timeout": busy_timeout_s, "check_same_thread": False, "isolation_level": None}
        connection = sqlite3.connect(_sqlite_address(path), uri=True, **options)
        if os.access(path.parent, os.W_OK) and is_ours(path):
            connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("PRAGMA temp_store = MEMORY")
        connection.execute("PRAGMA cache_size = -32000")
        return connection

    engine = sa.create_engine(URL.create("sqlite", database=str(path)), creator=connect, pool_size=3)

    @sa.event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        # A writer takes its lock at once: a read lock that must grow later can fail without waiting.
        writes = connection.get_execution_options().get("writes", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


DAMAGE_ADVICE = "restore the last backup elsewhere, `store export` what can still be read here, import it there"


def reason_of(error: BaseException) -> str:
    """Return in one line why a database refused, and what to do about a damaged file."""
    lines = str(getattr(error, "orig", None) or error).strip().splitlines()
    reason = lines[0] if lines else type(error).__name__
    damaged = "malformed" in reason or "not a database" in reason
    return f"{reason}; {DAMAGE_ADVICE}" if damaged else reason


def leave_wal(path: Path) -> None:
    """Make a SQLite database that nobody uses one file, which is easier to carry away than three."""
    connection = sqlite3.connect(path)
    try:
        connection.execute("PRAGMA journal_mode = DELETE")
    finally:
        connection.close()


def for_writing(connection: Connection) -> Connection:
    """Return the connection with its next transactions begun as writing ones."""
    return connection.execution_options(writes=True)

"""Opens a database: which one, with which rights, how its transactions begin, and how long a server may be silent."""

from __future__ import annotations

import os
import sqlite3
import tempfile
import time
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

import sqlalchemy as sa
from sqlalchemy.engine import URL, Connection, Engine

from memory_node.domain.errors import ResourceMissingError, StoreError
from memory_node.store.errors import ForeignFileError, StoreUnavailableError
from memory_node.store.location import prepare_threshold, sqlite_path

# Of the client's own: to connect, and for a link that broke. Addresses may say otherwise.
_DEFAULTS = {"connect_timeout": 2, "keepalives_idle": 5, "tcp_user_timeout": 5000, "application_name": "robot_memory"}
_QUIET_LIMIT = "quiet_limit_s"
# A server that says nothing for so long while a robot's thread waits for it is away (s).
PATIENCE_S = 1.8
# In the error that says so.
SILENT = "has said nothing"
# How often a wait for the server looks at the clock.
_LOOK_EVERY_S = 0.1


def open_server_engine(url: URL) -> Engine:
    """Return an engine; nothing is connected yet. Options of the address go to libpq, such as sslmode."""
    engine = sa.create_engine(url, creator=lambda: connect(url), pool_size=3)

    @sa.event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        database: Any = connection.connection.driver_connection
        database.quiet_limit_s = connection.get_execution_options().get(_QUIET_LIMIT)

    return engine


def with_quiet_limit(connection: Connection, limit_s: float | None) -> Connection:
    """Return the connection; in its next transactions a server that says nothing for so long counts as away.

    limit_s: None waits for ever. Nothing changes for a SQLite file.
    """
    return connection.execution_options(**{_QUIET_LIMIT: limit_s})


def connect(url: URL, quiet_limit_s: float | None = None, **options: Any) -> Any:
    """Return a psycopg connection; options: of psycopg, besides those of the address."""
    arguments, found = url.get_dialect()().create_connect_args(url)
    named = {**_DEFAULTS, **options, **found, **prepare_threshold(url)}
    connection = _bounded_connection().connect(*arguments, **named)
    connection.quiet_limit_s = quiet_limit_s
    return connection


@cache
def _bounded_connection() -> Any:
    try:
        import psycopg
        from psycopg.waiting import wait_selector
    except ImportError as error:
        raise ResourceMissingError("PostgreSQL needs psycopg: pip install 'robot_memory[fleet]'") from error

    class BoundedConnection(psycopg.Connection[Any]):
        """Ends itself when the server says nothing for `quiet_limit_s` (None: never) while it is waited for.

        The server's own timeouts do not help when its process hangs, and TCP's do not when its host still answers.
        """

        quiet_limit_s: float | None = None

        def wait(self, gen: Any, *arguments: Any, **options: Any) -> Any:
            if self.quiet_limit_s is None:
                return super().wait(gen, *arguments, **options)
            # Not psycopg's compiled loop: that of 3.2.1 does not come back while nothing is ready.
            asked = {"timeout": options["timeout"]} if "timeout" in options else {}  # of notifies, from 3.3 on
            return wait_selector(self._bounded(gen, self.quiet_limit_s), self.pgconn.socket, _LOOK_EVERY_S, **asked)

        def _bounded(self, gen: Any, limit_s: float) -> Generator[Any, Any, Any]:
            """Pass the waiting generator through; it is sent 0 every 0.1 s while nothing is ready."""
            deadline = time.monotonic() + limit_s
            try:
                wanted = next(gen)
                while True:
                    ready = yield wanted
                    now = time.monotonic()
                    if ready:
                        deadline = now + limit_s
                    elif now > deadline:
                        self.pgconn.finish()
                        raise psycopg.OperationalError(f"the server {SILENT} for {limit_s:g} s")
                    wanted = gen.send(ready)
            except StopIteration as end:
                return end.value

    return BoundedConnection


# Bytes 68..71 of a SQLite file: "rmem".
APPLICATION_ID = 0x726D656D
# What a write-ahead log is cut to when SQLite begins it anew.
LOG_LIMIT_BYTES = 16 * 2**20
# Of a SQLite file whose schema is damaged, sqlite3 cannot even decode the message that says so.
DATABASE_ERRORS = (sa.exc.DBAPIError, UnicodeDecodeError)


def open_engine(url: URL, busy_timeout_s: float = 2.0) -> Engine:
    """Return an engine; nothing is connected yet. TLS options of the address (sslmode, sslrootcert) pass through."""
    path = sqlite_path(url)
    if path is not None:
        return _sqlite_engine(path, busy_timeout_s)
    return open_server_engine(url)


@contextmanager
def disposed(engine: Engine) -> Iterator[Engine]:
    """Give an engine; its connections end with the block."""
    try:
        yield engine
    finally:
        engine.dispose()


def _sqlite_address(path: Path) -> str:
    """Return the address of a file that is there; where its folder cannot be written, one that only reads.

    mode=rw: a file that is not there is an error, never a new and empty memory.
    """
    address = f"file:{quote(str(path.absolute()))}"
    if os.access(path.parent, os.W_OK):
        return f"{address}?mode=rw"
    # Without a write-ahead log beside the file there is nothing to recover, and none can be created to check that.
    immutable = "" if path.with_name(path.name + "-wal").exists() else "&immutable=1"
    return f"{address}?mode=ro{immutable}"


def reading_address(path: Path) -> str:
    """Return the URI of a SQLite file by which reading leaves no trace: no byte changes, no file beside it comes up.

    While its write-ahead log is there, what has been committed is partly in that, and whoever wrote it reads it too.
    """
    return f"file:{quote(str(path.absolute()))}?mode=ro{'' if log_bytes(path) else '&immutable=1'}"


def log_bytes(path: Path) -> int:
    """Return the size of a SQLite file's write-ahead log."""
    log = path.with_name(path.name + "-wal")
    return log.stat().st_size if log.is_file() else 0


def database_files(path: Path) -> list[Path]:
    """Return the files of a SQLite database: its own, its logs, and the index of its write-ahead log."""
    return [found for end in ("", "-wal", "-journal", "-shm") if (found := Path(f"{path}{end}")).is_file()]


def open_for_reading(path: Path, timeout_s: float = 10.0) -> Engine:
    """Return an engine that only reads a SQLite file and leaves no trace of it."""
    options: dict[str, Any] = {"timeout": timeout_s, "check_same_thread": False, "isolation_level": None}

    def connect() -> sqlite3.Connection:
        return sqlite3.connect(reading_address(path), uri=True, **options)

    engine = sa.create_engine(URL.create("sqlite", database=str(path)), creator=connect, poolclass=sa.pool.NullPool)

    @sa.event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN")

    return engine


def is_ours(path: Path) -> bool:
    """Return whether a file is this program's, or empty; somebody else's is opened, but not changed."""
    try:
        with closing(sqlite3.connect(reading_address(path), uri=True)) as connection:
            return _is_ours(connection, path)
    except sqlite3.DatabaseError:
        return False  # connecting says why


def _is_ours(connection: sqlite3.Connection, path: Path) -> bool:
    """Return the same through a connection: asked of SQLite, for when a process closes a descriptor of a
    file, all its locks on that file end, those of SQLite too (https://www.sqlite.org/howtocorrupt.html, 2.2).
    """
    try:
        return path.stat().st_size == 0 or _application_id(connection) == APPLICATION_ID
    except (OSError, sqlite3.DatabaseError):
        return False


def require_store(path: Path) -> None:
    """Look whether a file may be a store of ours.

    Raises:
        ForeignFileError: it is empty, no SQLite database, or another program's; it says which.
        StoreUnavailableError: it cannot be read.
    """
    try:
        if not path.stat().st_size:
            raise ForeignFileError(f"{path} is empty (0 bytes): it holds no memory; delete it, or restore a backup")
        with closing(sqlite3.connect(reading_address(path), uri=True)) as connection:
            found = _application_id(connection)
    except OSError as error:
        raise StoreUnavailableError(f"{path} cannot be read: {error.strerror}") from error
    except sqlite3.OperationalError as error:
        raise StoreUnavailableError(f"{path} cannot be read: {error}") from error
    except sqlite3.DatabaseError as error:
        raise ForeignFileError(
            f"{path} is no SQLite database, so it holds no memory; if it did, `memory-node store check --repair` helps"
        ) from error
    if found != APPLICATION_ID:
        raise ForeignFileError(f"{path} is a SQLite database of another program; give another path")


def _application_id(connection: sqlite3.Connection) -> int:
    """Return whose file it is, its write-ahead log included."""
    return int(connection.execute("PRAGMA application_id").fetchone()[0])


def _sqlite_engine(path: Path, busy_timeout_s: float) -> Engine:
    def connect() -> sqlite3.Connection:
        # sqlite3 must not begin transactions on its own (isolation_level): _begin below says which kind.
        options: dict[str, Any] = {"timeout": busy_timeout_s, "check_same_thread": False, "isolation_level": None}
        connection = sqlite3.connect(_sqlite_address(path), uri=True, **options)
        if os.access(path.parent, os.W_OK) and _is_ours(connection, path):
            if not path.stat().st_size:  # first: who is killed before the tables are there leaves a file that is ours
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute(f"PRAGMA journal_size_limit = {LOG_LIMIT_BYTES}")
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


DAMAGE_ADVICE = "stop the robot and run `memory-node store check --repair`"


_POOLER_ADVICE = (
    "this looks like PgBouncer before 1.21 in transaction mode: install a newer one, or add ?prepare_threshold=none to "
    "the address"
)


def reason_of(error: BaseException) -> str:
    """Return in one line why a database refused, and what to do about a damaged file."""
    lines = str(getattr(error, "orig", None) or error).strip().splitlines()
    reason = lines[0] if lines else type(error).__name__
    if "prepared statement" in reason:
        return f"{reason}; {_POOLER_ADVICE}"
    damaged = "malformed" in reason or "not a database" in reason
    return f"{reason}; {DAMAGE_ADVICE}" if damaged else reason


def leave_wal(path: Path) -> None:
    """Make a SQLite database that nobody uses one file, which is easier to carry away than three."""
    connection = sqlite3.connect(path)
    try:
        connection.execute("PRAGMA journal_mode = DELETE")
    finally:
        connection.close()


@contextmanager
def page_copy(source: Path) -> Iterator[Path]:
    """Give a copy of a SQLite file as it is now, which may be changed; it goes at the end.

    Raises:
        StoreError: the copy is damaged.
    """
    with tempfile.TemporaryDirectory(prefix="robot_memory_") as folder:
        target = Path(folder) / source.name
        copy_pages(source, target)
        yield target


def copy_pages(source: Path, target: Path, alone: bool = True) -> None:
    """Copy a SQLite file page by page, its write-ahead log included, while others write it.

    alone: nobody begins to write it meanwhile, and reading leaves no trace beside it.
    """
    origin = sqlite3.connect(reading_address(source), uri=True) if alone else sqlite3.connect(source)
    copy = sqlite3.connect(target)
    try:
        origin.backup(copy)
        verdict = copy.execute("PRAGMA quick_check").fetchone()[0]
    finally:
        copy.close()
        origin.close()
    leave_wal(target)
    if verdict != "ok":
        raise StoreError(f"the copy is damaged ({verdict}); run `memory-node store check` on the original")


def for_writing(connection: Connection) -> Connection:
    """Return the connection with its next transactions begun as writing ones."""
    return connection.execution_options(writes=True)

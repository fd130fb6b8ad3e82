"""Overwrites what was deleted, and searches the files for what should be gone."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from memory_node.store import schema
from memory_node.store.copying import rows_of
from memory_node.store.engine import sqlite_path
from memory_node.store.errors import StoreUnavailableError
from memory_node.store.terms import Terms

_BLOCK = 1 << 22
_OVERLAP = 4096
# Bytes of a picture that identify it; its head is the same in every JPEG.
_NEEDLE = slice(-48, None)


def vacuum(engine: Engine, timeout_s: float = 30.0) -> None:
    """Rewrite the database without its free pages, and empty the write-ahead log.

    Raises:
        StoreUnavailableError: others kept it busy all the time.
    """
    path = sqlite_path(engine.url)
    if path is None:
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            for table in (*schema.metadata.sorted_tables,):
                # Not parametrised because it is our own schema's name; VACUUM takes no parameters.
                connection.execute(sa.text(f'VACUUM (FULL, ANALYZE) "{table.name}"'))
        return
    connection_ = sqlite3.connect(path, timeout=timeout_s, isolation_level=None)
    try:
        deadline = time.monotonic() + timeout_s
        connection_.execute("PRAGMA secure_delete = ON")
        connection_.execute("VACUUM")
        connection_.execute("ANALYZE")
        while connection_.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
            if time.monotonic() > deadline:
                raise StoreUnavailableError(f"the write-ahead log of {path} is in use; run `memory-node store compact`")
            time.sleep(0.05)
    except sqlite3.OperationalError as error:
        raise StoreUnavailableError(
            f"{path} cannot be rewritten now ({error}); run `memory-node store compact`"
        ) from error
    finally:
        connection_.close()


def picture_needles(connection: Connection, site: str, object_ids: Iterable[str]) -> list[bytes]:
    """Return bytes that only the pictures of these objects hold; call it before they are deleted."""
    appearances = schema.appearances
    here = (appearances.c.site == site, sa.func.length(appearances.c.crop_jpeg) > 64)
    wanted = set(object_ids)
    going: set[bytes] = set()
    staying: set[bytes] = set()
    for object_id, crop in connection.execute(sa.select(appearances.c.object_id, appearances.c.crop_jpeg).where(*here)):
        (going if object_id in wanted else staying).add(bytes(crop[_NEEDLE]))
    return sorted(going - staying)


def database_files(path: Path) -> list[Path]:
    """Return the files of a SQLite database."""
    return [found for suffix in ("", "-wal", "-shm", "-journal") if (found := Path(f"{path}{suffix}")).is_file()]


def search_files(
    paths: Iterable[Path], terms: Terms, needles: Sequence[bytes], longer: Collection[str] = ()
) -> list[Path]:
    """Return the files that hold any of the terms or of the byte strings, free space within them included.

    longer: words that may hold a term, see `longer_words`.
    """
    return [path for path in paths if path.is_file() and _holds(path, terms, needles, longer)]


def _holds(path: Path, terms: Terms, needles: Sequence[bytes], longer: Collection[str]) -> bool:
    tail = b""
    with open(path, "rb") as file:
        while block := file.read(_BLOCK):
            data = tail + block
            if terms.found_in_bytes(data, longer) or any(needle in data for needle in needles):
                return True
            # What lies across the border of two blocks.
            tail = data[-_OVERLAP:]
    return False


def search_tables(connection: Connection, site: str, terms: Terms) -> list[str]:
    """Return the tables of which a text still holds a term."""
    tables = (*schema.LOGGED, schema.sessions)
    return [table.name for table in tables if any(map(terms.found_in, _texts(connection, site, table)))]


def longer_words(connection: Connection, site: str, terms: Terms) -> set[str]:
    """Return the words that stay and hold a term within, which a search of bytes cannot tell from it."""
    tables = (*schema.LOGGED, schema.sessions, schema.tombstones, schema.forgettings, schema.artifacts)
    texts = (text for table in tables for text in _texts(connection, site, table))
    return set().union(*map(terms.longer_words, texts))


def _texts(connection: Connection, site: str, table: sa.Table) -> Iterator[str]:
    """Yield each row's texts, apart from each other."""
    names = [column.name for column in table.c if isinstance(column.type, sa.Text)]
    return ("\n".join(row.values()) for row in rows_of(connection, site, table, *names))

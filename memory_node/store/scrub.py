"""Overwrites what was deleted, and searches the files for what should be gone."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from memory_node.store import schema
from memory_node.store.byte_search import ByteSearch
from memory_node.store.copying import rows_of
from memory_node.store.engine import sqlite_path
from memory_node.store.errors import StoreUnavailableError
from memory_node.store.held_files import held
from memory_node.store.terms import Terms
from memory_node.store.text_search import rows_mentioning

_AMONG = 500
_BLOCK = 1 << 22
_OVERLAP = 4096
# Bytes of a picture or an embedding that identify it; the head of a JPEG is the same in all.
_NEEDLE_BYTES = 48
# Rows with fewer bytes of text lie on one page: SQLite splits, of pages of 4096 bytes, rows of more than 1002.
_SPLIT_BYTES = 600
# Of a SQLite database: the file, its logs, and the index of its write-ahead log.
_SUFFIXES = ("", "-wal", "-journal", "-shm")
# Fewer different bytes than these are nobody's alone: zeros, for one.
_NEEDLE_KINDS = 12
_NEEDLES_OF = ((schema.appearances, "object_id", ("crop_jpeg", "embedding")), (schema.objects, "id", ("geometry",)))


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
    with _alone(path, timeout_s) as database:
        database.execute("VACUUM")
        database.execute("ANALYZE")
    empty_log(engine, timeout_s)


def empty_log(engine: Engine, timeout_s: float = 30.0) -> None:
    """Bring a SQLite file's write-ahead log into it and empty it; what was deleted is overwritten with zeros there.

    Raises:
        StoreUnavailableError: others kept it busy all the time.
    """
    path = sqlite_path(engine.url)
    if path is None:
        return
    deadline = time.monotonic() + timeout_s
    with _alone(path, timeout_s) as database:
        while database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
            if time.monotonic() > deadline:
                raise StoreUnavailableError(f"the write-ahead log of {path} is in use; run `memory-node store compact`")
            time.sleep(0.05)


@contextmanager
def _alone(path: Path, timeout_s: float) -> Iterator[sqlite3.Connection]:
    database = sqlite3.connect(path, timeout=timeout_s, isolation_level=None)
    try:
        database.execute("PRAGMA secure_delete = ON")
        yield database
    except sqlite3.OperationalError as error:
        raise StoreUnavailableError(
            f"{path} cannot be rewritten now ({error}); run `memory-node store compact`"
        ) from error
    finally:
        database.close()


def needles_of(connection: Connection, site: str, object_ids: Collection[str]) -> list[bytes]:
    """Return bytes of the pictures, embeddings and places of these objects; call it before they are deleted."""
    listed = sorted(object_ids)
    found: set[bytes] = set()
    for start in range(0, len(listed), _AMONG):
        for table, key, names in _NEEDLES_OF:
            columns = [table.c[name] for name in names]
            chosen = (table.c.site == site, table.c[key].in_(listed[start : start + _AMONG]))
            for row in connection.execute(sa.select(*columns).where(*chosen)):
                found.update(bytes(value[-_NEEDLE_BYTES:]) for value in row)
    return sorted(needle for needle in found if len(set(needle)) >= _NEEDLE_KINDS)


def held_elsewhere(connection: Connection, site: str, needle: bytes) -> bool:
    """Return whether a row that stays holds these bytes, so that they are no trace of what went."""
    for table, _, names in _NEEDLES_OF:
        for column in (table.c[name] for name in names):
            # Both databases compare the ends of byte strings; SQLite calls the function substr.
            end = sa.func.substr(column, sa.func.length(column) - len(needle) + 1)
            if connection.execute(sa.select(sa.literal(1)).where(table.c.site == site, end == needle).limit(1)).first():
                return True
    return False


def database_files(path: Path) -> list[Path]:
    """Return the files of a SQLite database."""
    return [found for suffix in _SUFFIXES if (found := Path(f"{path}{suffix}")).is_file()]


def files_with_content(path: Path) -> list[Path]:
    """Return the files of a SQLite database that hold data: not the index of its log, which SQLite has locked."""
    return [found for found in database_files(path) if not found.name.endswith("-shm")]


@dataclass(frozen=True)
class FileFinding:
    """What a file still holds: whether it is a term, and which of the sought bytes."""

    path: Path
    term: bool
    needles: frozenset[bytes]


def search_files(
    paths: Iterable[Path],
    terms: Terms,
    needles: ByteSearch,
    longer: Collection[str] = (),
    database: Path | None = None,
) -> list[FileFinding]:
    """Return the files that hold any of the terms or of the byte strings, free space within them included.

    longer: words that may hold a term, see `longer_words`. database: the SQLite file among them that this process uses.
    """
    found: list[FileFinding] = []
    for path in paths:
        if path.is_file():
            with held(path) if path == database else _opened(path) as descriptor:
                finding = FileFinding(path, *_search(descriptor, terms, needles, longer))
            if finding.term or finding.needles:
                found.append(finding)
    return found


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    with open(path, "rb") as file:
        yield file.fileno()


def _search(
    descriptor: int, terms: Terms, needles: ByteSearch, longer: Collection[str]
) -> tuple[bool, frozenset[bytes]]:
    tail, offset, term = b"", 0, False
    found: set[bytes] = set()
    while block := os.pread(descriptor, _BLOCK, offset):
        offset += len(block)
        data = tail + block
        term = term or terms.found_in_bytes(data, longer)
        found |= needles.found_in(data)
        # What lies across the border of two blocks.
        tail = data[-_OVERLAP:]
    return term, frozenset(found)


def search_tables(connection: Connection, site: str, terms: Terms) -> list[str]:
    """Return the tables of which a text still holds a term.

    In a SQLite file a search of its bytes finds terms faster, but for texts that are split between pages: only rows are
    looked through that may be too long for one.
    """
    found: list[str] = []
    for table in (*schema.LOGGED, schema.sessions, schema.quarantine):
        names = _texts(table)
        sizes = (sa.func.length(sa.cast(table.c[name], sa.LargeBinary)) for name in names)
        split = sum(sizes, sa.literal(0)) > _SPLIT_BYTES
        condition = split if connection.dialect.name == "sqlite" else sa.true()
        if next(rows_mentioning(connection, site, table, names, terms, condition), None) is not None:
            found.append(table.name)
    return found


def longer_words(connection: Connection, site: str, terms: Terms) -> set[str]:
    """Return the words that stay and hold a term within, which a search of bytes cannot tell from it."""
    tables = (*schema.LOGGED, schema.sessions, schema.tombstones, schema.forgettings, schema.artifacts)
    texts = (
        "\n".join(map(str, row.values()))
        for table in tables
        for row in rows_of(connection, site, table, *_texts(table))
    )
    return set().union(*map(terms.longer_words, texts))


def _texts(table: sa.Table) -> list[str]:
    return [column.name for column in table.c if isinstance(column.type, sa.Text)]

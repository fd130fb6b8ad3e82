"""Looks whether a SQLite file is built as SQLite and our schema say: its header, its pages, its tables."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from memory_node.store import schema
from memory_node.store.engine import APPLICATION_ID, has_log
from memory_node.store.held_files import held

# Of the file's header: offset, bytes, and what may stand there (https://www.sqlite.org/fileformat2.html, 1.3).
_HEADER: tuple[tuple[int, int, str, tuple[int, ...]], ...] = (
    (18, 1, "write version", (1, 2)),
    (19, 1, "read version", (1, 2)),
    (20, 1, "reserved bytes a page", (0,)),
    (21, 1, "largest payload share", (64,)),
    (22, 1, "smallest payload share", (32,)),
    (23, 1, "leaf payload share", (32,)),
    (44, 4, "schema format", (1, 2, 3, 4)),
    (48, 4, "cache size", (0,)),
    (52, 4, "largest root page", (0,)),
    (56, 4, "text encoding", (1,)),
    (64, 4, "incremental vacuum", (0,)),
    (68, 4, "application id", (APPLICATION_ID,)),
)
_RESERVED = slice(72, 92)


def header_faults(path: Path) -> Iterator[str]:
    """Yield what is wrong with a file's header, unless a newer one is in its write-ahead log, which has checksums."""
    if has_log(path):
        return
    with held(path) as descriptor:
        header = os.pread(descriptor, 100, 0)
    if len(header) < 100:
        yield f"the file has {len(header)} bytes, less than its header"
        return
    for offset, size, name, allowed in _HEADER:
        value = int.from_bytes(header[offset : offset + size], "big")
        if value not in allowed:
            yield f"header: {name} is {value}, expected {' or '.join(map(str, allowed))}"
    if header[_RESERVED].strip(b"\0"):
        yield "header: reserved bytes are not 0"
    if header[18] != header[19]:
        yield f"header: write version {header[18]} and read version {header[19]} differ"


def page_faults(connection: Connection) -> Iterator[str]:
    """Yield what SQLite finds wrong with the pages and the indexes."""
    for (verdict,) in connection.execute(sa.text("PRAGMA integrity_check(20)")).all():
        if verdict != "ok":
            yield f"SQLite: {verdict}"


def table_faults(connection: Connection, version: str) -> Iterator[str]:
    """Yield how the tables differ from those of this program's schema."""
    noted = connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalars().all()
    if noted != [schema.SCHEMA_VERSION]:
        yield f"the schema's version is noted as {noted}, expected {schema.SCHEMA_VERSION}"
    number = connection.execute(sa.text("PRAGMA user_version")).scalar_one()
    if number != int(schema.SCHEMA_VERSION):
        yield f"the file's schema number is {number}, expected {int(schema.SCHEMA_VERSION)}"
    expected = _model()
    found = _layout(connection)
    for name in sorted(expected.keys() | found.keys()):
        if expected.get(name) != found.get(name):
            yield f"the table {name} is not as the schema says"


def _model() -> dict[str, Any]:
    engine = sa.create_engine("sqlite://")
    with engine.connect() as connection:
        schema.metadata.create_all(connection)
        return _layout(connection)


def _layout(connection: Connection) -> dict[str, Any]:
    """Return by table its columns and indexes, and nothing of how they came about."""
    names = connection.execute(sa.text("SELECT name FROM sqlite_master WHERE type = 'table'")).scalars().all()
    ours = [name for name in names if name != "alembic_version" and not name.startswith("sqlite_")]
    layout: dict[str, Any] = {}
    for name in ours:
        columns = connection.execute(
            sa.text('SELECT name, type, "notnull", pk FROM pragma_table_info(:n)'), {"n": name}
        )
        indexes = connection.execute(
            sa.text(
                'SELECT l.name, l."unique", i.name FROM pragma_index_list(:n) l, pragma_index_info(l.name) i '
                "WHERE l.origin = 'c' ORDER BY l.name, i.seqno"
            ),
            {"n": name},
        )
        layout[name] = (sorted(map(tuple, columns)), sorted(map(tuple, indexes)))
    return layout

"""Rows that cannot be read: gathered while the others are read, and kept so that a robot starts without them."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from memory_node.domain.clock import Clock
from memory_node.store import schema
from memory_node.store.apply import add_rows
from memory_node.store.checksums import SEALS, sealed
from memory_node.store.engine import for_writing, reason_of
from memory_node.store.records import with_bytes_packed, with_bytes_unpacked
from memory_node.store.row_values import fault_of


@dataclass(frozen=True)
class BadRow:
    """A row of a table, its values in the order of the columns, and what is wrong with it."""

    table: sa.Table
    values: tuple[Any, ...]
    reason: str

    @property
    def key(self) -> dict[str, Any]:
        """The values of the primary key."""
        named = dict(zip(SEALS[self.table.name].names, self.values))
        return {column.name: named[column.name] for column in self.table.primary_key}

    @property
    def name(self) -> str:
        """The table and the key, for people."""
        return f"{self.table.name} {'/'.join(str(part) for part in list(self.key.values())[1:])}"

    @property
    def content(self) -> str:
        """All values, of whatever type they are, as JSON of ASCII characters."""
        return json.dumps([with_bytes_packed(value) for value in self.values])

    @property
    def digest(self) -> str:
        """The id of the row in quarantine."""
        return hashlib.sha256(f"{self.table.name}\n{self.content}".encode()).hexdigest()[:32]


class BadRows(list[BadRow]):
    """The bad rows of one read."""

    def note(self, table: sa.Table, values: Sequence[Any], reason: str) -> None:
        """Add one."""
        self.append(BadRow(table, tuple(values), reason))

    def sift(self, table: sa.Table, rows: Iterable[Any]) -> Iterator[Any]:
        """Yield the good ones of whole rows, and keep the others."""
        seal = SEALS[table.name]
        for row in rows:
            fault = seal.fault(row) or fault_of(table.name, row)
            if fault:
                self.note(table, row, fault)
            else:
                yield row


_log = logging.getLogger(__name__)
_TABLES = {table.name: table for table in schema.SEALED if table not in (schema.sites, schema.quarantine)}
_REASON_CHARACTERS = 300


def put_away(engine: Engine, site: str, bad: Iterable[BadRow], clock: Clock) -> bool:
    """Move rows out of their tables; False when the database cannot be written now, and they stay there."""
    bad = list(bad)
    for row in bad:
        _log.error("a row of %s cannot be read and is left out: %s", row.table.name, row.reason)
    try:
        with for_writing(engine.connect()) as connection, connection.begin():
            for row in bad:
                put_row_away(connection, site, row, clock())
    except (sa.exc.SQLAlchemyError, OSError) as error:
        _log.error("they stay in their tables, for the database cannot be written now: %s", reason_of(error))
        return False
    return True


def put_row_away(connection: Connection, site: str, bad: BadRow, stamp_ns: int) -> None:
    """Move one row, unless a good one has taken its place meanwhile."""
    key = [_as_text(str(value)[:200]) for value in bad.key.values()]
    row = {"site": site, "id": bad.digest, "table_name": bad.table.name, "stamp_ns": stamp_ns, "content": bad.content}
    row |= {"row_key": json.dumps(key, ensure_ascii=False), "reason": _as_text(bad.reason[:_REASON_CHARACTERS])}
    add_rows(connection, schema.quarantine, [sealed(schema.quarantine, row)])
    connection.execute(bad.table.delete().where(*this_row(connection, bad)))


def this_row(connection: Connection, bad: BadRow) -> Iterator[Any]:
    """Yield conditions that match exactly this row, and no good one that has replaced it."""
    named = dict(zip(SEALS[bad.table.name].names, bad.values))
    for name in (*bad.key, "checksum"):
        value, column = named[name], bad.table.c[name]
        if isinstance(value, str) and not value.isascii() and connection.dialect.name == "sqlite":
            # Bytes that are no text cannot be told as text.
            yield column == sa.cast(value.encode("utf-8", "surrogateescape"), sa.Text)
        else:
            yield column.is_(None) if value is None else column == value


def _as_text(text: str) -> str:
    """Return a text without surrogates, which stand for bytes that are none."""
    return text.encode("utf-8", "replace").decode()


def quarantined(connection: Connection, site: str) -> list[BadRow]:
    """Return what is in quarantine and can be read itself."""
    away = schema.quarantine
    rows = connection.execute(sa.select(away).where(away.c.site == site).order_by(away.c.id)).all()
    return [
        BadRow(_TABLES[row.table_name], tuple(map(with_bytes_unpacked, json.loads(row.content))), row.reason)
        for row in rows
        if row.table_name in _TABLES and not SEALS[away.name].fault(row)
    ]

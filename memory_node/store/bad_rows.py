"""Rows that cannot be read: they are left out of what is read, and stay in their tables until `check --repair`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from memory_node.store.checksums import SEALS
from memory_node.store.row_values import fault_of

_MOST_CHARACTERS = 300


@dataclass(frozen=True)
class BadRow:
    """A row of a table: the values of its key, and what is wrong with it."""

    table: sa.Table
    key: tuple[Any, ...]
    reason: str

    def __str__(self) -> str:
        parts = "/".join(str(part) for part in self.key[1:])
        text = f"{self.table.name} {parts[:_MOST_CHARACTERS]}: {self.reason[:_MOST_CHARACTERS]}"
        # Without surrogates, which stand for bytes that are no text.
        return text.encode("utf-8", "replace").decode()


class BadRows(list[BadRow]):
    """The bad rows of one read."""

    def note(self, table: sa.Table, values: Sequence[Any], reason: str) -> None:
        """Add one; values: of all columns, in the table's order."""
        named = dict(zip(SEALS[table.name].names, values))
        self.append(BadRow(table, tuple(named[column.name] for column in table.primary_key), reason))

    def sift(self, table: sa.Table, rows: Iterable[Any]) -> Iterator[Any]:
        """Yield the good ones of whole rows, and keep the others."""
        seal = SEALS[table.name]
        for row in rows:
            fault = seal.fault(row) or fault_of(table.name, row)
            if fault:
                self.note(table, row, fault)
            else:
                yield row

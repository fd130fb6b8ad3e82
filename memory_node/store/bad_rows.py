"""Rows that cannot be read: what was wrong with each, gathered while the others are read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from memory_node.store.checksums import SEALS
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

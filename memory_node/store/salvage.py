"""Gathers the rows of a damaged SQLite file from its pages: what its checksum says is whole, or becomes so again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memory_node.store.bad_rows import BadRow
from memory_node.store.checksums import SEALS, RowSeal
from memory_node.store.correction import corrected_record, corrected_row
from memory_node.store.sqlite_pages import PageFile, Record

_INDEX = "an index"
_WIDTHS: defaultdict[int, list[RowSeal]] = defaultdict(list)
for _seal in SEALS.values():
    _WIDTHS[len(_seal.names)].append(_seal)
_COLUMNS = frozenset(_WIDTHS)
# Rows of these pages may be tried for a changed byte, which takes a second each; beyond them a backup serves better.
_MOST_TRIED = 200


@dataclass
class Salvaged:
    """Rows by table and key, in the order of the table's columns; those that could not be mended; and how many were."""

    rows: dict[str, dict[tuple[Any, ...], list[Any]]] = field(default_factory=lambda: defaultdict(dict))
    bad: list[BadRow] = field(default_factory=list)
    mended: int = 0

    @property
    def count(self) -> int:
        """How many rows there are."""
        return sum(map(len, self.rows.values()))

    def keep(self, seal: RowSeal, values: list[Any]) -> None:
        """Keep a row; of two with one key the newer."""
        named = dict(zip(seal.names, values))
        key = tuple(named[column.name] for column in seal.table.primary_key)
        before = self.rows[seal.table.name].get(key)
        if before is None or "revision" not in named or before[seal.names.index("revision")] < named["revision"]:
            self.rows[seal.table.name][key] = values


def salvage(path: Path) -> Salvaged:
    """Return what a damaged file still holds."""
    file = PageFile(path)
    owners = _owners(file)
    found = Salvaged()
    incomplete: list[tuple[int, list[Record], int]] = []
    for number in range(1, file.count + 1):
        records, cells = file.records(number)
        strange = [record for record in records if not _keep_if_sealed(found, record)]
        missing = cells - len(records) + len(strange)
        if (missing or not cells) and owners.get(number) != _INDEX:
            incomplete.append((number, strange, missing))
    suspects: list[tuple[str, Record]] = []
    for number, strange, missing in incomplete:
        if number in file.overflow or not file.page(number).strip(b"\0"):
            continue
        kept = found.count
        for record in file.carve(number, _COLUMNS):
            _keep_if_sealed(found, record)
        if number in owners and found.count - kept < max(missing, 1):
            suspects += [(owners[number], record) for record in strange]
    for count, (owner, record) in enumerate(suspects):
        _mend(found, SEALS[owner], record, thoroughly=count < _MOST_TRIED)
    return found


def _keep_if_sealed(found: Salvaged, record: Record) -> bool:
    for seal in _WIDTHS.get(len(record.values), ()):
        if record.values[seal.checksum_place] is not None and not seal.row_fault(record.values):
            found.keep(seal, record.values)
            return True
    return False


def _mend(found: Salvaged, seal: RowSeal, record: Record, thoroughly: bool) -> None:
    values = corrected_row(seal, record.values) if len(record.values) == len(seal.names) else None
    if (
        len(record.values) == len(seal.names)
        and record.values[seal.checksum_place] is None
        and not seal.row_fault(record.values)
    ):
        values = record.values
    if values is None and thoroughly:
        values = corrected_record(seal, record.payload)
    if values is not None:
        found.keep(seal, values)
        found.mended += 1
    elif len(record.values) == len(seal.names):
        found.bad.append(BadRow(seal.table, tuple(record.values), "damaged in its file"))


def _owners(file: PageFile) -> dict[int, str]:
    """Return by page the table that its rows are of, as far as the trees of pages tell."""
    owners: dict[int, str] = {}
    for root, name in _roots(file):
        for number in (root, *file.descendants(root)):
            owners.setdefault(number, name)
    return owners


def _roots(file: PageFile) -> Iterator[tuple[int, str]]:
    """Yield (page, table) of each tree that the file's list of tables and indexes names."""
    for number in (1, *file.descendants(1)):
        for record in file.records(number)[0]:
            if len(record.values) != 5:
                continue
            kind, name, _, root, _ = record.values
            if kind == "table" and name in SEALS and isinstance(root, int):
                yield root, name
            elif kind == "index" and isinstance(root, int) and str(name).startswith("ix_"):
                yield root, _INDEX

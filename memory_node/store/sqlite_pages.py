"""Reads rows from the pages of a SQLite file itself, for files that SQLite cannot read any more.

The format is SQLite's own description, https://www.sqlite.org/fileformat2.html.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_HEADER_BYTES = 100
_LEAF_TABLE, _LEAF_INDEX, _INNER_TABLE, _INNER_INDEX = 0x0D, 0x0A, 0x05, 0x02
# Of all files that `engine` makes; the size that a damaged header tells may be wrong.
PAGE_BYTES = 4096
# Bytes of an integer by its serial type.
_INTEGER_BYTES = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
_MAX_COLUMNS = 64


class BrokenRecordError(ValueError):
    """Bytes that are no record."""


def varint(data: bytes, offset: int) -> tuple[int, int]:
    """Return SQLite's variable-length integer at an offset, and the offset behind it."""
    value = 0
    for count in range(8):
        byte = data[offset + count]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, offset + count + 1
    return value << 8 | data[offset + 8], offset + 9


def read_layout(data: bytes, offset: int, end: int) -> tuple[list[int], int]:
    """Return the serial types of a record that begins at `offset`, and where its values begin.

    Raises:
        BrokenRecordError: no record begins there.
    """
    try:
        size, at = varint(data, offset)
        body = offset + size
        if not 2 <= size <= _MAX_COLUMNS * 9 or body > end:
            raise BrokenRecordError
        types: list[int] = []
        while at < body:
            kind, at = varint(data, at)
            types.append(kind)
    except IndexError:
        raise BrokenRecordError from None
    if at != body or len(types) > _MAX_COLUMNS or any(kind in (10, 11) for kind in types):
        raise BrokenRecordError
    return types, body


def size_of(serial_type: int) -> int:
    """Return how many bytes a value takes."""
    if serial_type >= 12:
        return (serial_type - 12) // 2
    return 8 if serial_type == 7 else _INTEGER_BYTES.get(serial_type, 0)


def read_values(types: Sequence[int], body: bytes) -> list[Any]:
    """Return a record's values; text that is none comes with surrogates.

    Raises:
        BrokenRecordError: the bytes end before the values do.
    """
    values: list[Any] = []
    at = 0
    for kind in types:
        size = size_of(kind)
        data = body[at : at + size]
        if len(data) < size:
            raise BrokenRecordError
        at += size
        values.append(_value(kind, data))
    return values


def _value(kind: int, data: bytes) -> Any:
    if kind in _INTEGER_BYTES:
        return int.from_bytes(data, "big", signed=True)
    if kind == 7:
        return struct.unpack(">d", data)[0]
    if kind in (8, 9):
        return kind - 8
    if kind >= 12:
        return data if kind % 2 == 0 else data.decode("utf-8", "surrogateescape")
    return None


@dataclass(frozen=True)
class Record:
    """A record of a page: the bytes that it was read from (header and values), and its values."""

    page: int
    payload: bytes
    values: list[Any]


class PageFile:
    """The pages of a database file; what is damaged in them is passed over."""

    def __init__(self, path: Path) -> None:
        self._data = path.read_bytes()
        self.count = len(self._data) // PAGE_BYTES
        # Pages on which records that were read go on.
        self.overflow: set[int] = set()

    def page(self, number: int) -> bytes:
        """Return a page; pages count from 1."""
        return self._data[(number - 1) * PAGE_BYTES : number * PAGE_BYTES]

    def records(self, number: int) -> tuple[list[Record], int]:
        """Return the records of a page by its list of cells, and how many cells that lists; 0 for no page of rows."""
        page, start = self.page(number), _HEADER_BYTES if number == 1 else 0
        kind, cells = page[start], int.from_bytes(page[start + 3 : start + 5], "big")
        if kind not in (_LEAF_TABLE, _LEAF_INDEX, _INNER_INDEX):
            return [], 0
        first = start + (12 if kind == _INNER_INDEX else 8)
        found: list[Record] = []
        for cell in range(cells):
            at = int.from_bytes(page[first + 2 * cell : first + 2 * cell + 2], "big")
            try:
                found.append(self._record(number, page, kind, at))
            except (BrokenRecordError, IndexError):
                continue
        return found, cells

    def children(self, number: int) -> list[int]:
        """Return the pages that an inner page of a tree leads to; none for any other page."""
        page, start = self.page(number), _HEADER_BYTES if number == 1 else 0
        if page[start] not in (_INNER_TABLE, _INNER_INDEX):
            return []
        cells = int.from_bytes(page[start + 3 : start + 5], "big")
        found = [int.from_bytes(page[start + 8 : start + 12], "big")]
        for cell in range(cells):
            at = int.from_bytes(page[start + 12 + 2 * cell : start + 14 + 2 * cell], "big")
            found.append(int.from_bytes(page[at : at + 4], "big"))
        return found

    def descendants(self, number: int) -> list[int]:
        """Return all pages below a page of a tree."""
        seen: dict[int, None] = {}
        waiting = self.children(number)
        while waiting:
            child = waiting.pop()
            if child not in seen and 0 < child <= self.count:
                seen[child] = None
                waiting += self.children(child)
        return list(seen)

    def _record(self, number: int, page: bytes, kind: int, at: int) -> Record:
        if kind == _INNER_INDEX:
            at += 4
        size, at = varint(page, at)
        if kind == _LEAF_TABLE:
            _, at = varint(page, at)
        payload = self._payload(page, kind, at, size)
        types, body = read_layout(payload, 0, len(payload))
        return Record(number, payload, read_values(types, payload[body:]))

    def _payload(self, page: bytes, kind: int, at: int, size: int) -> bytes:
        """Return the bytes of a cell, which may go on in a chain of overflow pages."""
        usable = PAGE_BYTES
        most = usable - 35 if kind == _LEAF_TABLE else (usable - 12) * 64 // 255 - 23
        if size > len(self._data):
            raise BrokenRecordError
        if size <= most:
            return page[at : at + size]
        least = (usable - 12) * 32 // 255 - 23
        local = least + (size - least) % (usable - 4)
        local = least if local > most else local
        parts, left, chain = [page[at : at + local]], size - local, set()
        following = int.from_bytes(page[at + local : at + local + 4], "big")
        while left > 0:
            if not 0 < following <= self.count:
                raise BrokenRecordError
            chain.add(following)
            overflow = self.page(following)
            parts.append(overflow[4 : 4 + left])
            left -= len(parts[-1])
            following = int.from_bytes(overflow[:4], "big")
        self.overflow |= chain
        return b"".join(parts)

    def carve(self, number: int, columns: frozenset[int]) -> Iterator[Record]:
        """Yield whatever could be a record of so many columns, at each offset of a page."""
        page = self.page(number)
        for offset in range(len(page) - 2):
            # The header takes a byte a column at least, and seldom more than two.
            if not min(columns) < page[offset] <= 3 * max(columns):
                continue
            try:
                types, body = read_layout(page, offset, len(page))
                if len(types) in columns:
                    values = read_values(types, page[body:])
                    end = body + sum(map(size_of, types))
                    yield Record(number, page[offset:end], values)
            except BrokenRecordError:
                continue

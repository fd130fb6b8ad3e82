"""A checksum of every row, so that damage is noticed on reading."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from operator import itemgetter
from typing import Any

import sqlalchemy as sa

from memory_node.domain.errors import InvalidValueError
from memory_node.store import schema
from memory_node.store.records import Row

# Pictures have a checksum of their own, so that a damaged one does not cost the rest of its row.
_PICTURE, _PICTURE_CHECKSUM, _CHECKSUM = "crop_jpeg", "crop_checksum", "checksum"
# `success` of an episode that has not ended.
_NULL = 2
# Every commit raises a site's revision; another column guards it, see `schema.sites`.
_GUARDED = {"sites": ("revision", "revision_check")}
_LENGTH = struct.Struct("<Q")


class RowSeal:
    """The checksum of one table's rows: CRC-32 of all values but pictures and the checksum itself.

    It finds every change of up to 32 neighbouring bits, and all but one in 4e9 of the others.
    """

    def __init__(self, table: sa.Table) -> None:
        self.table = table
        self.names = [column.name for column in table.c]
        left_out = (_PICTURE, _CHECKSUM, *_GUARDED.get(table.name, ()))
        covered = [column for column in table.c if column.name not in left_out]
        kinds = (sa.Double, sa.Text, sa.LargeBinary)
        self._floats, texts, blobs = ([c.name for c in covered if isinstance(c.type, kind)] for kind in kinds)
        integers = [c.name for c in covered if not isinstance(c.type, kinds)]
        place = self.names.index
        self._nullable = [place(c.name) for c in covered if c.nullable and c.name not in (_CHECKSUM, _PICTURE_CHECKSUM)]
        self._numbers = struct.Struct(f"<{len(integers)}q{len(self._floats)}d")
        self._pick_numbers = _picker([place(name) for name in (*integers, *self._floats)])
        self._pick_texts = _picker([place(name) for name in texts])
        self._blob_places = [place(name) for name in blobs]
        self._checksum_place = place(_CHECKSUM)
        self._has_picture = _PICTURE in self.names

    def values_of(self, row: Row) -> list[Any]:
        """Return a row's values in the order of the table's columns."""
        return [row.get(name) for name in self.names]

    def message(self, values: Sequence[Any], errors: str = "surrogateescape") -> bytes:
        """Return the bytes that the checksum is of; values: of all columns, in the table's order.

        errors: what to make of text that is none (see `bytes.decode`).

        Raises:
            ValueError, TypeError, struct.error: a value is of another type than its column.
        """
        if self._nullable:
            values = [_NULL if v is None and i in self._nullable else v for i, v in enumerate(values)]
        numbers = self._numbers.pack(*self._pick_numbers(values))
        message = numbers + "\0".join(self._pick_texts(values)).encode("utf-8", errors)
        for place in self._blob_places:
            message += _LENGTH.pack(len(values[place])) + values[place]
        return message

    def of(self, values: Sequence[Any]) -> int:
        """Return the checksum of a row's values; raises as `message` does."""
        return zlib.crc32(self.message(values))

    def fault(self, values: Sequence[Any]) -> str:
        """Return what is wrong with a stored row; "" for a row that is as it was written, or never had a checksum."""
        stored = values[self._checksum_place]
        try:
            if stored is None:
                self.message(values, errors="strict")
            elif self.of(values) != stored:
                return "its checksum does not fit"
        except (ValueError, TypeError, struct.error) as error:
            return f"a value is of another type than its column ({error})"
        return self._picture_fault(values) if self._has_picture else ""

    def _picture_fault(self, values: Sequence[Any]) -> str:
        stored, picture = values[self.names.index(_PICTURE_CHECKSUM)], values[self.names.index(_PICTURE)]
        if stored is None or (isinstance(picture, bytes) and zlib.crc32(picture) == stored):
            return ""
        return "the checksum of its picture does not fit"

    def seal(self, row: Row) -> Row:
        """Set a row's checksums in place and return it.

        Raises:
            InvalidValueError: a value is of another type than its column.
        """
        try:
            for name in self._floats:
                # SQLite does not keep the sign of -0.0.
                row[name] = row[name] + 0.0
            if self._has_picture:
                row[_PICTURE_CHECKSUM] = zlib.crc32(row[_PICTURE])
            row[_CHECKSUM] = self.of(self.values_of(row))
        except (ValueError, TypeError, KeyError, struct.error) as error:
            raise InvalidValueError(f"{self.table.name}: a value does not fit its column: {error}") from error
        return row


def _picker(places: list[int]) -> Any:
    """Return a function that gives the values at these places as a tuple."""
    if len(places) > 1:
        return itemgetter(*places)
    return lambda values: tuple(values[place] for place in places)


SEALS: dict[str, RowSeal] = {table.name: RowSeal(table) for table in schema.SEALED}


def sealed(table: sa.Table, row: Row) -> Row:
    """Return the row with its checksums set, in place; raises InvalidValueError as `RowSeal.seal`."""
    return SEALS[table.name].seal(row)

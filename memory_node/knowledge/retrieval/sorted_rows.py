"""Small sorted arrays of row numbers by key: what a concept, a subject or a session leads to."""

from __future__ import annotations

from array import array
from bisect import bisect_left

from memory_node.search.packing import (
    Arrays,
    pack_numbers,
    pack_texts,
    part,
    under,
    unpack_numbers,
    unpack_texts,
)


class SortedRows:
    """Adds, removes and lists rows by key, ascending; four bytes a row. Not thread-safe."""

    def __init__(self) -> None:
        self._rows: dict[str, array[int]] = {}
        self._total = 0

    @classmethod
    def from_packed(cls, arrays: Arrays) -> SortedRows:
        """Return what packed() gave as rows by key."""
        made = cls()
        rows = part("rows", arrays)
        made._rows = dict(zip(unpack_texts(part("keys", arrays)), unpack_numbers(rows)))
        made._total = len(rows["numbers"])
        return made

    def packed(self) -> Arrays:
        """Return everything as arrays."""
        return {**under("keys", pack_texts(self._rows)), **under("rows", pack_numbers(list(self._rows.values())))}

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, key: str) -> bool:
        return key in self._rows

    @property
    def total(self) -> int:
        """How many rows all keys have together."""
        return self._total

    def add(self, key: str, row: int) -> None:
        """Let a key lead to a row; nothing where it does."""
        rows = self._rows.get(key)
        if rows is None:
            rows = self._rows[key] = array("I")
        self._total += insert_row(rows, row)

    def discard(self, key: str, row: int) -> None:
        """Let a key no longer lead to a row; nothing where it does not."""
        rows = self._rows.get(key)
        if rows is None:
            return
        place = bisect_left(rows, row)
        if place < len(rows) and rows[place] == row:
            del rows[place]
            self._total -= 1
            if not rows:
                del self._rows[key]

    def count(self, key: str) -> int:
        """Return how many rows a key leads to."""
        return len(self._rows.get(key, ()))

    def first(self, key: str, most: int) -> list[int]:
        """Return up to `most` rows of a key, the lowest ones."""
        rows = self._rows.get(key)
        return list(rows[:most]) if rows is not None else []

    def all(self, key: str) -> list[int]:
        """Return the rows of a key."""
        return list(self._rows.get(key, ()))


def insert_row(rows: array[int], row: int) -> bool:
    """Put a row into an ascending array; return whether it was not there."""
    if not rows or row > rows[-1]:
        rows.append(row)
        return True
    place = bisect_left(rows, row)
    if rows[place] == row:
        return False
    rows.insert(place, row)
    return True

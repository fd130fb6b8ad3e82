"""Which rows a key or a step leads to, and which steps lie around one."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Sequence


class SortedRows:
    """Adds, removes and lists rows by key, ascending; four bytes a row. Not thread-safe."""

    def __init__(self) -> None:
        self._rows: dict[str, array[int]] = {}
        self._total = 0

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


# How far after a step its neighbours lie.
AROUND = (-1, 1, -2, 2)
NO_STEP = -1


def neighbour(source: str, away: int) -> str:
    """Return the step that lies so many steps after (before: negative) another of its session."""
    session, _, index = source.rpartition(":")
    return f"{session}:{int(index) + away}" if index.isdigit() else ""


class StepTable:
    """Numbers steps that hold rows, and gives the number of one that holds none any more again; not thread-safe."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._names: list[str] = []
        self._rows: list[list[int]] = []
        self._around = array("i")
        self._free: list[int] = []

    def __len__(self) -> int:
        return len(self._numbers)

    def name(self, step: int) -> str:
        """Return a step's source, "session:index"."""
        return self._names[step]

    def number(self, source: str) -> int:
        """Return a step's number, NO_STEP for one that holds nothing."""
        return self._numbers.get(source, NO_STEP)

    def rows(self, step: int) -> Sequence[int]:
        """Return the rows of a step."""
        return self._rows[step]

    def around(self, step: int) -> Sequence[int]:
        """Return the numbers of the steps around one, in the order of AROUND; NO_STEP where there is none."""
        return self._around[len(AROUND) * step : len(AROUND) * (step + 1)]

    def add(self, source: str, row: int) -> int:
        """Let a step hold a row; return the step's number."""
        step = self._numbers.get(source)
        if step is None:
            step = self._new(source)
        self._rows[step].append(row)
        return step

    def remove(self, step: int, row: int) -> bool:
        """Let a step no longer hold a row; return whether it holds none now, and is gone."""
        self._rows[step].remove(row)
        if self._rows[step]:
            return False
        self._link(step, self._names[step], there=False)
        del self._numbers[self._names[step]]
        self._free.append(step)
        return True

    def _new(self, source: str) -> int:
        if self._free:
            step = self._free.pop()
            self._names[step] = source
        else:
            step = len(self._names)
            self._names.append(source)
            self._rows.append([])
            self._around.extend([NO_STEP] * len(AROUND))
        self._numbers[source] = step
        self._link(step, source, there=True)
        return step

    def _link(self, step: int, source: str, there: bool) -> None:
        for place, away in enumerate(AROUND):
            other = self._numbers.get(neighbour(source, away), NO_STEP)
            self._around[len(AROUND) * step + place] = other if there else NO_STEP
            if other != NO_STEP:
                self._around[len(AROUND) * other + AROUND.index(-away)] = step if there else NO_STEP

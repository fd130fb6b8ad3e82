"""Which rows a key or a step leads to, and which steps lie around one."""

from __future__ import annotations

from collections.abc import Sequence


class SortedRows:
    """Adds, removes and lists rows by key, ascending. Not thread-safe."""

    def __init__(self) -> None:
        self._rows: dict[str, set[int]] = {}

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, key: str) -> bool:
        return key in self._rows

    @property
    def total(self) -> int:
        """How many rows all keys have together."""
        return sum(map(len, self._rows.values()))

    def add(self, key: str, row: int) -> None:
        """Let a key lead to a row; nothing where it does."""
        self._rows.setdefault(key, set()).add(row)

    def discard(self, key: str, row: int) -> None:
        """Let a key no longer lead to a row; nothing where it does not."""
        rows = self._rows.get(key, set())
        rows.discard(row)
        if not rows:
            self._rows.pop(key, None)

    def count(self, key: str) -> int:
        """Return how many rows a key leads to."""
        return len(self._rows.get(key, ()))

    def first(self, key: str, most: int) -> list[int]:
        """Return up to `most` rows of a key, the lowest ones."""
        return self.all(key)[:most]

    def all(self, key: str) -> list[int]:
        """Return the rows of a key."""
        return sorted(self._rows.get(key, ()))


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
        return [self.number(neighbour(self._names[step], away)) for away in AROUND]

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
        self._numbers[source] = step
        return step

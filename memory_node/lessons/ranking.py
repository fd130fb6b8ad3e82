"""Keys in the order of their rank, kept sorted while single keys come and go."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator
from heapq import merge


class Ranking:
    """Highest rank first; equal ranks by key. Adding and removing move pointers only, so ten thousand keys are few."""

    __slots__ = ("_entries",)

    def __init__(self) -> None:
        self._entries: list[tuple[float, str]] = []

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[str]:
        """Yield the keys, best first."""
        return (key for _, key in self._entries)

    def __reversed__(self) -> Iterator[str]:
        """Yield the keys, worst first."""
        return (key for _, key in reversed(self._entries))

    def add(self, rank: float, key: str) -> None:
        """Enter a key that is not there."""
        insort(self._entries, (-rank, key))

    def remove(self, rank: float, key: str) -> None:
        """Take a key out; rank: the one that it was entered with."""
        del self._entries[bisect_left(self._entries, (-rank, key))]

    @staticmethod
    def merged(rankings: Iterable[Ranking]) -> Iterator[str]:
        """Yield the keys of several rankings without common keys, best first."""
        return (key for _, key in merge(*(ranking._entries for ranking in rankings)))

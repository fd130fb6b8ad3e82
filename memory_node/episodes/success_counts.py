"""Counts of what succeeded and what was tried, by name, from which an episode's share can be taken back."""

from __future__ import annotations

import heapq


class SuccessCounts:
    """(successes, takes) by name."""

    __slots__ = ("_counts",)

    def __init__(self) -> None:
        self._counts: dict[str, tuple[int, int]] = {}

    def __bool__(self) -> bool:
        return bool(self._counts)

    def add(self, name: str, success: bool, times: int = 1) -> None:
        """Count a take; times -1 takes one back."""
        done, takes = self._counts.get(name, (0, 0))
        if takes + times <= 0:
            self._counts.pop(name, None)
        else:
            self._counts[name] = (done + times * success, takes + times)

    def best(self, limit: int) -> list[tuple[str, int, int]]:
        """Return (name, successes, takes), most often successful first."""
        rows = ((name, done, takes) for name, (done, takes) in self._counts.items())
        return heapq.nsmallest(limit, rows, key=lambda row: (-row[1], -row[1] / row[2], row[0]))

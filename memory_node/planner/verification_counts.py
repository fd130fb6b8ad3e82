"""Counts what came of looking at pictures after an instruction; thread-safe."""

from __future__ import annotations

import threading
from collections import Counter


class VerificationCounts:
    """Outcomes by what a picture said of them.

    verified: at least one goal was seen to be met, none to be unmet. refused: a goal was seen to be unmet. not_visible:
    the picture showed no goal. skipped.REASON: there was no verdict. nothing_to_see: a picture shows none of the goals.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()
        self._problem = ""

    def note(self, what: str) -> None:
        """Count an outcome."""
        with self._lock:
            self._counts[what] += 1
            self._problem = ""

    def skipped(self, reason: str, why: str) -> None:
        """Count an outcome that could not be verified. why: in words."""
        with self._lock:
            self._counts[f"skipped.{reason}"] += 1
            self._problem = why

    @property
    def problem(self) -> str:
        """Why the last outcome could not be verified; "" where it could."""
        with self._lock:
            return self._problem

    def values(self) -> dict[str, int]:
        """Return a copy of the counts."""
        with self._lock:
            always = dict.fromkeys(("verified", "refused", "not_visible"), 0)
            return {**always, **dict(sorted(self._counts.items()))}

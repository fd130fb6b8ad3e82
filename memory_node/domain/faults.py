"""Unexpected errors: logged once for each place in the code, counted every time."""

from __future__ import annotations

import threading
import traceback
from collections import Counter
from collections.abc import Callable


class Faults:
    """Thread-safe. log: takes the text of a fault that is new."""

    def __init__(self, log: Callable[[str], object]) -> None:
        self._log = log
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()
        self._told: set[tuple[str, int]] = set()

    def note(self, where: str, error: BaseException) -> None:
        """Count an error under `where`; log it with its traceback if none has come from its place yet."""
        *_, last = traceback.extract_tb(error.__traceback__) or [None]
        place = (last.filename, last.lineno or 0) if last is not None else (type(error).__name__, 0)
        with self._lock:
            self._counts[where] += 1
            is_new = place not in self._told
            self._told.add(place)
        if is_new:
            told = "".join(traceback.format_exception(type(error), error, error.__traceback__))
            self._log(f"{where}: internal error, which is logged once and counted from now on:\n{told}")

    def counts(self) -> dict[str, int]:
        """Return how many there were, by where."""
        with self._lock:
            return dict(sorted(self._counts.items()))

"""Notices that a robot is blind: frames come and none is used, or frames have stopped."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class FrameWatch:
    """Compares when frames came with when one was used. Thread-safe.

    Args:
        limit_s: so long may nothing be used, or come.
        clock: seconds.
    """

    def __init__(self, limit_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._limit_s = limit_s
        self._clock = clock
        self._lock = threading.Lock()
        self._came_s: float | None = None
        # The first frame that came after one was used last, or at all.
        self._unused_since_s: float | None = None

    def came(self) -> None:
        """Note that a frame has come."""
        with self._lock:
            now_s = self._clock()
            paused = self._came_s is not None and now_s - self._came_s > self._limit_s
            self._came_s = now_s
            if self._unused_since_s is None or paused:
                self._unused_since_s = now_s

    def used(self) -> None:
        """Note that a frame was used."""
        with self._lock:
            self._unused_since_s = None

    def unused_s(self) -> float:
        """Return for how many seconds frames have come of which none was used; 0 within the limit."""
        with self._lock:
            if self._came_s is None or self._unused_since_s is None:
                return 0.0
            waited_s = self._came_s - self._unused_since_s
            return waited_s if waited_s > self._limit_s else 0.0

    def silent_s(self) -> float:
        """Return for how many seconds none has come since the last one; 0 within the limit, or when none ever came."""
        with self._lock:
            silent_s = 0.0 if self._came_s is None else self._clock() - self._came_s
        return silent_s if silent_s > self._limit_s else 0.0

"""Time in which this process ran, for judging whether another one is silent."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

# The clock is read every 20 ms; a longer gap between two readings is a pause of this process (s).
_LONGEST_STEP_S = 0.1


class AwakeClock:
    """Seconds since it was made, without this process's own pauses; thread-safe.

    A process that was stopped, or got no processor time, has unread announcements when it continues. By this clock
    almost no time has passed, so it reads them before it declares a node lost. At most 0.1 s counts between two
    readings, so the clock must be read more often than that.

    monotonic: the time of the machine in seconds.
    """

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._read_s = monotonic()
        self._awake_s = 0.0
        self._lock = threading.Lock()

    def __call__(self) -> float:
        """Return the seconds so far."""
        with self._lock:
            now_s = self._monotonic()
            self._awake_s += min(now_s - self._read_s, _LONGEST_STEP_S)
            self._read_s = now_s
            return self._awake_s

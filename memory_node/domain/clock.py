"""The injected source of "now" in integer nanoseconds."""

from __future__ import annotations

import time
from collections.abc import Callable

Clock = Callable[[], int]


def system_clock() -> int:
    """Return the wall clock in nanoseconds since 1970."""
    return time.time_ns()


# Stamps before 2000 are of a clock that began at zero, as in a simulation or a script.
_OF_OUR_DAYS_NS = 946_684_800 * 10**9


class MemoryClock:
    """ "Now" on the time line of a memory: the clock, or its newest stamp where that is of a clock that began at zero
    and this one is not. clock: the wall's, or a simulation's."""

    def __init__(self, clock: Clock = system_clock) -> None:
        self._clock = clock
        self._newest_ns = 0

    def follow(self, newest_ns: int) -> None:
        """Take over a stamp of the memory."""
        self._newest_ns = max(self._newest_ns, newest_ns)

    def __call__(self) -> int:
        """Return now in nanoseconds."""
        now_ns = self._clock()
        return self._newest_ns if 0 < self._newest_ns < _OF_OUR_DAYS_NS <= now_ns else now_ns

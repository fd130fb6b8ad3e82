"""The injected source of "now" in integer nanoseconds."""

from __future__ import annotations

import time
from collections.abc import Callable

Clock = Callable[[], int]


def system_clock() -> int:
    """Return the wall clock in nanoseconds since 1970."""
    return time.time_ns()

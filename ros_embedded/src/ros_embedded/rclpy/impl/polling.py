"""Waits for changes of the graph, which have no condition to wait on."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

_POLL_S = 0.01


def wait_until(condition: Callable[[], bool], timeout_sec: float | None, context: Any) -> bool:
    """True once the condition holds; False after `timeout_sec` (None: no limit) or when the context shuts down."""
    deadline = None if timeout_sec is None else time.monotonic() + timeout_sec
    while not (holds := condition()) and context.ok():
        if deadline is not None and time.monotonic() >= deadline:
            break
        time.sleep(_POLL_S)
    return holds

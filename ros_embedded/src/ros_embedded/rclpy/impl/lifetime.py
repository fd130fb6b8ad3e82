"""Keeps a participant until the last call into it has returned."""

from __future__ import annotations

import threading
from collections.abc import Callable

from ros_embedded.rclpy.impl.cyclone import DDSError


class Lifetime:
    """Guards calls that need the participant, by `with lifetime:`; after `end()` the last of them cleans up.

    A signal's handler may end it in the middle of any line of the thread that it interrupts: hence the reentrant lock.
    """

    def __init__(self, on_end: Callable[[], None]) -> None:
        self._lock = threading.RLock()
        self._on_end: Callable[[], None] | None = on_end
        self._users = 0
        self.is_over = False

    def __enter__(self) -> None:
        with self._lock:
            if self.is_over:
                raise DDSError("the context has been shut down")
            self._users += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._users -= 1
        self._clean_up_if_unused()

    def end(self) -> None:
        """Refuse new users, and clean up now or when the last one leaves."""
        self.is_over = True
        self._clean_up_if_unused()

    def _clean_up_if_unused(self) -> None:
        """Call `on_end` once, when it is over and nobody is inside."""
        with self._lock:
            if not self.is_over or self._users > 0:
                return
            on_end, self._on_end = self._on_end, None
        if on_end is not None:
            on_end()

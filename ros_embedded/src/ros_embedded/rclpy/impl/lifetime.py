"""Keeps a participant until the last call into it has returned."""

from __future__ import annotations

import threading
from collections.abc import Callable

from ros_embedded.rclpy.impl.cyclone import DDSError


class Lifetime:
    """Guards calls that need the participant, by `with lifetime:`; after `end()` the last of them cleans up."""

    def __init__(self, on_end: Callable[[], None]) -> None:
        self._lock = threading.Lock()
        self._on_end = on_end
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
            is_last = self.is_over and self._users == 0
        if is_last:
            self._on_end()

    def end(self) -> None:
        """Refuse new users, and clean up now or when the last one leaves."""
        with self._lock:
            is_idle = not self.is_over and self._users == 0
            self.is_over = True
        if is_idle:
            self._on_end()

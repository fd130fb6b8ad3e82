"""Counts the requests that a node is answering, so that it can close without leaving one unanswered."""

from __future__ import annotations

import threading
from typing import Any

from rclpy.callback_groups import ReentrantCallbackGroup

from memory_node.domain.errors import RobotMemoryError


class OpenRequests(ReentrantCallbackGroup):
    """The callback group of services that run side by side; counts their requests; thread-safe.

    A request is open until the executor has sent its answer, which is after the service's callback has returned.
    node_name: for the refusal of later ones.
    """

    def __init__(self, node_name: str) -> None:
        super().__init__()
        self._node_name = node_name
        self._count = 0
        self._is_closed = False
        self._changed = threading.Condition()

    def beginning_execution(self, entity: Any) -> bool:
        """Count a request; the executor calls this."""
        with self._changed:
            self._count += 1
        return super().beginning_execution(entity)

    def ending_execution(self, entity: Any) -> None:
        """Count a request as answered; the executor calls this."""
        super().ending_execution(entity)
        with self._changed:
            self._count -= 1
            self._changed.notify_all()

    def require_open(self) -> None:
        """Return if requests are taken.

        Raises:
            RobotMemoryError: `close` was called.
        """
        with self._changed:
            if self._is_closed:
                raise RobotMemoryError(f"the node {self._node_name} is not active")

    def close(self, timeout_s: float) -> None:
        """Refuse new requests, and wait until the present ones are answered."""
        with self._changed:
            self._is_closed = True
            self._changed.wait_for(lambda: self._count == 0, timeout_s)

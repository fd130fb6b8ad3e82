"""Counts the requests that a node is answering, so that it can close without leaving one unanswered."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from memory_node.domain.errors import RobotMemoryError


class OpenRequests:
    """Requests that are being answered; thread-safe. node_name: for the refusal of later ones."""

    def __init__(self, node_name: str) -> None:
        self._node_name = node_name
        self._count = 0
        self._is_closed = False
        self._changed = threading.Condition()

    @contextmanager
    def answering(self) -> Iterator[None]:
        """Answer a request inside the block.

        Raises:
            RobotMemoryError: `close` was called.
        """
        with self._changed:
            if self._is_closed:
                raise RobotMemoryError(f"the node {self._node_name} is not active")
            self._count += 1
        try:
            yield
        finally:
            with self._changed:
                self._count -= 1
                self._changed.notify_all()

    def close(self, timeout_s: float) -> None:
        """Refuse new requests, and wait until the present ones are answered."""
        with self._changed:
            self._is_closed = True
            self._changed.wait_for(lambda: self._count == 0, timeout_s)

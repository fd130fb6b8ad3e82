"""The newest image, for a detector that is slower than its camera: older ones are skipped, and counted."""

from __future__ import annotations

import threading
from typing import Any


class NewestImage:
    """Holds one message from a callback for a worker thread.

    Attributes:
        skipped: how many messages were replaced before anybody took them.
        ended: whether nothing will be taken any more.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._message: Any = None
        self.skipped = 0
        self.ended = False

    def put(self, message: Any) -> None:
        """Hold a message instead of the one before."""
        with self._changed:
            self.skipped += self._message is not None
            self._message = message
            self._changed.notify()

    def take(self, timeout_s: float) -> Any:
        """Return the newest message once, None where none comes in time."""
        with self._changed:
            self._changed.wait_for(lambda: self._message is not None or self.ended, timeout_s)
            message, self._message = self._message, None
            return None if self.ended else message

    def end(self) -> None:
        """Wake the waiting thread; no image is given any more."""
        with self._changed:
            self.ended = True
            self._changed.notify_all()

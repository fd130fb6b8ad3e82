"""A moment by which something must have happened."""

from __future__ import annotations

import time

from memory_node.llm.errors import LateError


class Deadline:
    """A moment of the monotonic clock, and how many seconds it was away when it was set."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._at = time.monotonic() + seconds

    def within(self, seconds: float) -> Deadline:
        """Return the earlier one: this, or so many seconds from now."""
        return self if self.remaining_s() <= seconds else Deadline(seconds)

    def remaining_s(self) -> float:
        """Return the seconds until then; negative when it has passed."""
        return self._at - time.monotonic()

    @property
    def passed(self) -> bool:
        """Whether it has passed."""
        return self.remaining_s() <= 0.0

    def left_s(self) -> float:
        """Return the seconds until then, more than 0.

        Raises:
            LateError: it has passed.
        """
        left_s = self.remaining_s()
        if left_s <= 0.0:
            raise LateError(f"no whole reply within {self.seconds:g} s")
        return left_s

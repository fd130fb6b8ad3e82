"""Tells the lines of a reply while it is being written."""

from __future__ import annotations

import time
from collections.abc import Callable


class ReplyLines:
    """Collects a reply piece by piece and calls `on_line` with each line that is complete.

    first_s: seconds from the beginning to the first piece that says something, 0 before.
    """

    def __init__(self, on_line: Callable[[str], None]) -> None:
        self._on_line = on_line
        self._began = time.monotonic()
        self._pieces: list[str] = []
        self._open = ""
        self.length = 0
        self.first_s = 0.0

    def add(self, piece: str) -> None:
        """Take the next piece of the reply."""
        if piece and not self.length:
            self.first_s = time.monotonic() - self._began
        self._pieces.append(piece)
        self.length += len(piece)
        *complete, self._open = (self._open + piece).split("\n")
        for line in complete:
            self._on_line(line)

    def end(self) -> str:
        """Tell the last line, and return the whole reply."""
        if self._open:
            self._on_line(self._open)
        return "".join(self._pieces)

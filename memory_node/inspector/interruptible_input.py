"""Standard input that ends on a signal, for a server that waits for it in a thread which nothing else wakes."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from io import FileIO
from typing import Any

_CHUNK = 65536
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextlib.contextmanager
def interruptible_input() -> Iterator[None]:
    """Let SIGINT and SIGTERM end standard input (descriptor 0) inside the block; in the main thread alone.

    Raises:
        KeyboardInterrupt: at the block's end, when a signal came.
    """
    given = os.dup(0)
    reading, writing = os.pipe()
    os.dup2(reading, 0)
    os.close(reading)
    passed_on = FileIO(writing, "wb")
    came: list[int] = []

    def on_signal(number: int, _frame: Any) -> None:
        came.append(number)
        passed_on.close()

    # It may wait for `given` for ever, and is left behind then.
    threading.Thread(target=_forward, args=(given, passed_on), name="standard-input", daemon=True).start()
    before = {number: signal.signal(number, on_signal) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        os.dup2(given, 0)
    if came:
        raise KeyboardInterrupt


def _forward(source: int, target: FileIO) -> None:
    """Copy what comes from `source` until it ends, or `target` is closed or read by nobody any more."""
    with contextlib.suppress(OSError, ValueError), target:
        while chunk := os.read(source, _CHUNK):
            rest = memoryview(chunk)
            while rest:
                rest = rest[target.write(rest) :]

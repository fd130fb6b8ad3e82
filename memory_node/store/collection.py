"""Keeps the garbage collector away from the rows of open stores, and gives them back when the stores are closed."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collection() -> Iterator[None]:
    """Keep the garbage collector from visiting a million new values while they are read, and in each later run. It then
    visits none of the process's objects, and frees no cycles among them; see collect_again().
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if enabled:
            gc.enable()


def collect_again() -> None:
    """Let the collector visit the excluded objects again: a memory's parts form cycles and are freed in no other way.
    Rows of other open stores are visited again, too; a full collection then takes half a second for a million rows.
    """
    gc.unfreeze()

"""What the garbage collector may walk: not a million rows that stay, but all of them once their store is closed."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collection() -> Iterator[None]:
    """Keep the garbage collector from walking a million new values while they are read, and at each later turn.

    It then walks nothing that the process holds, nor finds what of it is given up; see collect_again().
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
    """Let the collector find what was kept from it; a memory's parts hold each other and are freed in no other way.

    What other open stores have read is walked again too, which costs a full collection half a second a million rows.
    """
    gc.unfreeze()

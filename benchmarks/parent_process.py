"""Lets a benchmark's process end with the one that started it, however that ends."""

from __future__ import annotations

import os
import threading
import time

_ASKED_EVERY_S = 0.3


def end_with(parent: int) -> None:
    """From now on end this process soon after its parent, also in the middle of work that hangs.

    parent: the id of the process that started this one, told by itself: it may be gone already.
    """
    threading.Thread(target=_end_after, args=(parent,), name="parent", daemon=True).start()


def _end_after(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_ASKED_EVERY_S)
    os._exit(1)

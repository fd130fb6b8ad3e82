"""What a process takes, as Linux tells it."""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass
from pathlib import Path

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


@dataclass(frozen=True)
class ProcessFigures:
    """threads and descriptors: open now. resident_mb: its memory."""

    threads: int
    descriptors: int
    resident_mb: float


def processor_s(process_id: int) -> float:
    """Return the processor time of a running process so far, in all its threads."""
    fields = Path(f"/proc/{process_id}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def figures_of(process_id: int) -> ProcessFigures:
    """Return the figures of a running process."""
    folder = Path(f"/proc/{process_id}")
    pages = int((folder / "statm").read_text(encoding="ascii").split()[1])
    threads, descriptors = (len(list((folder / name).iterdir())) for name in ("task", "fd"))
    return ProcessFigures(threads, descriptors, pages * os.sysconf("SC_PAGE_SIZE") / 1e6)

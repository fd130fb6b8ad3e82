"""What a process takes, as Linux tells it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path


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

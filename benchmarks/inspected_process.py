"""An inspector in a process of its own, as users run it."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.store_load import make_object
from memory_node.domain.errors import RobotMemoryError
from memory_node.domain.scene import SceneEvent, SceneEventKind
from memory_node.store import open_store

_AT_ONCE = 5000


@contextlib.contextmanager
def inspected_by(*options: str) -> Iterator[tuple[int, int]]:
    """Give the port and the process id of an inspector.

    Raises:
        RobotMemoryError: it does not listen.
    """
    command = [sys.executable, "-m", "memory_node.cli", "inspect", "--port", "0", "--requests-per-s", "100000"]
    process = subprocess.Popen([*command, *options], stderr=subprocess.PIPE, text=True)
    try:
        yield _port_of(process), process.pid
    finally:
        process.terminate()
        process.wait(15.0)


def _port_of(process: subprocess.Popen[str]) -> int:
    assert process.stderr is not None
    told: list[str] = []
    for line in process.stderr:
        if line.startswith("http://"):
            threading.Thread(target=process.stderr.read, daemon=True).start()
            return int(line.rstrip("/\n").rpartition(":")[2])
        told.append(line)
    raise RobotMemoryError(f"bench inspector: the inspector does not listen: {''.join(told[-3:])}")


def stored_memory(path: Path, objects: int, seed: int) -> Path:
    """Write a memory of so many objects and return its file."""
    rng = np.random.default_rng(seed)
    with open_store(path) as store:
        for start in range(0, objects, _AT_ONCE):
            made = (make_object(rng, number) for number in range(start, min(start + _AT_ONCE, objects)))
            store.append(SceneEvent(SceneEventKind.APPEARED, 1, one) for one in made).wait(120.0)
    return path

"""An inspector in a process of its own, as users run it.

`python -m benchmarks.inspected_process PARENT OPTION...` is `memory-node inspect OPTION...` that ends with its parent.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.process_figures import end_with
from benchmarks.store_load import make_object
from memory_node import cli
from memory_node.domain.errors import RobotMemoryError
from memory_node.domain.scene import SceneEvent, SceneEventKind
from memory_node.store.store import open_store

_AT_ONCE = 5000


@contextlib.contextmanager
def inspected_by(*options: str) -> Iterator[tuple[int, int]]:
    """Give the port and the process id of an inspector; it ends with this process, however that ends.

    Raises:
        RobotMemoryError: it does not listen.
    """
    command = [sys.executable, "-m", "benchmarks.inspected_process", str(os.getpid())]
    served = ["--port", "0", "--requests-per-s", "100000", *options]
    process = subprocess.Popen([*command, *served], stderr=subprocess.PIPE, text=True)
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


if __name__ == "__main__":
    end_with(int(sys.argv[1]))
    sys.exit(cli.main(["inspect", *sys.argv[2:]]))

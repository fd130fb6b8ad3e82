"""ROS domains for what runs beside other ROS programs of this machine: the demo and the benchmarks."""

from __future__ import annotations

import fcntl
import tempfile
from pathlib import Path
from typing import IO

from memory_node.domain.errors import RobotMemoryError

# From the highest whose ports Linux leaves free (101) down, as people take the low ones.
_DOMAINS = range(101, 0, -1)
# Open until the process ends: the lock goes with the file.
_taken: list[IO[str]] = []


def unused_domain() -> int:
    """Return a ROS domain that no other caller on this machine gets until this process ends.

    A locked file for each domain says which are taken; the tests take theirs by the same files. What runs on a domain
    that a user has chosen is not seen.

    Raises:
        RobotMemoryError: all are taken.
    """
    for number in _DOMAINS:
        try:
            lock = (Path(tempfile.gettempdir()) / f"ros_domain_{number}.lock").open("a")
        except PermissionError:  # another user's
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.close()
            continue
        _taken.append(lock)
        return number
    raise RobotMemoryError(f"no ROS domain from {_DOMAINS[-1]} to {_DOMAINS[0]} is free; name one")

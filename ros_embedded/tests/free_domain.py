"""ROS domains that no other run of the tests on this machine uses."""

import fcntl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

# From the highest that Linux' ports leave free (101) down, as people take the low ones.
_DOMAINS = range(101, 0, -1)
_taken: list[IO[str]] = []


def free_domain() -> int:
    """Return a domain that stays this process's until it ends, or until `domains_given_back` does."""
    for number in _DOMAINS:
        lock = (Path(tempfile.gettempdir()) / f"ros_domain_{number}.lock").open("a")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.close()
            continue
        _taken.append(lock)
        return number
    raise RuntimeError("no ROS domain is free")


@contextmanager
def domains_given_back() -> Iterator[None]:
    """Give back at the end what was taken meanwhile: nothing of this process may be on it any more."""
    before = len(_taken)
    yield
    while len(_taken) > before:
        _taken.pop().close()

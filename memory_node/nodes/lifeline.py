"""How a node learns at once, and never by mistake, that the process of another one on its machine has ended.

Silence tells a killed process from a starved one only after seconds. The kernel knows: it closes a process's sockets
when the process ends, however it ends. Nobody has to answer on them, so that a busy machine makes no difference.
"""

from __future__ import annotations

import contextlib
import select
import socket
import struct
from collections.abc import Callable
from pathlib import Path

_WAITING = 128  # watchers that the kernel keeps until `let_in`
_CREDENTIALS = struct.Struct("3i")  # struct ucred: pid, uid, gid


class Lifeline:
    """What nodes on this machine can watch as long as it is open.

    Args:
        line: a socket that listens.
    """

    def __init__(self, line: socket.socket) -> None:
        self._line = line
        self._watchers: list[socket.socket] = []

    def let_in(self) -> None:
        """Take in who has come to watch, and let go of who has left: each that came would fill a place for ever."""
        with contextlib.suppress(OSError):  # nobody waits
            while True:
                self._watchers.append(self._line.accept()[0])
        for watcher in filter(is_cut, self._watchers):
            watcher.close()
        self._watchers = [watcher for watcher in self._watchers if watcher.fileno() >= 0]

    def close(self) -> None:
        """Cut it."""
        for line in (self._line, *self._watchers):
            line.close()


def held_lifeline(name: str) -> Lifeline | None:
    """Return a lifeline; None where the system has no such sockets (Linux has), or no more of them."""

    def offer(line: socket.socket) -> None:
        line.bind(_address(name))
        line.listen(_WAITING)

    line = _opened(offer)
    return None if line is None else Lifeline(line)


def watched_lifeline(name: str) -> socket.socket | None:
    """Return a connection to a lifeline; None where none of the name is held in this machine's network namespace."""
    return _opened(lambda line: line.connect(_address(name)))


def is_cut(line: socket.socket) -> bool:
    """Return whether the other side of a lifeline has closed it, or has ended. Nothing else is ever to be read."""
    watch = select.poll()
    try:
        watch.register(line, select.POLLIN)
    except ValueError:  # this side has closed it
        return False
    return bool(watch.poll(0))


def is_ending(line: socket.socket) -> bool:
    """Return whether the process that holds a watched lifeline runs no code any more, though its sockets are open.

    The kernel closes them only once it has written a core file and given back the memory: seconds for a large process.
    False where it is not known: the process is in another PID namespace.
    """
    try:
        pid, _, _ = _CREDENTIALS.unpack(line.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size))
        status = Path(f"/proc/{pid}/status").read_text("ascii", "replace")
    except OSError:
        return False
    return "\nVmSize:" not in status or "\nCoreDumping:\t1" in status


def _opened(begin: Callable[[socket.socket], object]) -> socket.socket | None:
    """Return a socket that never waits, once `begin` has made it a side of a lifeline; None where that fails, or no
    file descriptor is left."""
    with contextlib.suppress(OSError):
        line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        line.setblocking(False)
        try:
            begin(line)
            return line
        except OSError:
            line.close()
    return None


def _address(name: str) -> str:
    """Return a Unix socket's address without a file: it exists as long as the socket (unix(7), abstract)."""
    return f"\0robot_memory/{name}"

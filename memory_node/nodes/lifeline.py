"""How a node learns at once, and never by mistake, that the process of another one on its machine has ended.

Silence tells a killed process from a starved one only after seconds. The kernel knows: it closes a process's sockets
when the process ends, however it ends. Nobody has to answer on them, so that a busy machine makes no difference.
"""

from __future__ import annotations

import select
import socket

_WATCHERS = 128  # connections that the kernel keeps, which nobody ever accepts


def held_lifeline(name: str) -> socket.socket | None:
    """Return what the others can watch as long as it is open; None where the system has no such sockets (Linux has)."""
    line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        line.bind(_address(name))
        line.listen(_WATCHERS)
    except (OSError, ValueError):
        line.close()
        return None
    return line


def watched_lifeline(name: str) -> socket.socket | None:
    """Return a connection to a lifeline; None where none of the name is held in this machine's network namespace."""
    line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    line.setblocking(False)
    try:
        line.connect(_address(name))
    except (OSError, ValueError):
        line.close()
        return None
    return line


def is_cut(line: socket.socket) -> bool:
    """Return whether who held a watched lifeline has closed it, or has ended. Nothing else is ever to be read."""
    watch = select.poll()
    watch.register(line, select.POLLIN)
    return bool(watch.poll(0))


def _address(name: str) -> str:
    """Return a Unix socket's address without a file: it exists as long as the socket (unix(7), abstract)."""
    return f"\0robot_memory/{name}"

"""The page to look into the demo's memory."""

from __future__ import annotations

import socket
import time

from memory_node.app.demo.processes import NodeProcesses
from memory_node.domain.errors import RobotMemoryError

_HOST = "127.0.0.1"
_START_TIMEOUT_S = 60.0


def start_inspector(nodes: NodeProcesses, port: int, label_space: str) -> str:
    """Start the inspector of the run's memory node, and return the page's address once it is served.

    Raises:
        RobotMemoryError: something else listens there, or it ends, or does not listen in time.
    """
    if _listens(port):
        raise RobotMemoryError(f"--inspect {port}: another program listens there; name another port")
    options = ["--port", str(port), "--label-space", label_space]
    nodes.start_program("inspector", ["memory_node.cli", "inspect", *options])
    deadline_s = time.monotonic() + _START_TIMEOUT_S
    while not _listens(port):
        nodes.check()
        if time.monotonic() > deadline_s:
            raise RobotMemoryError(f"the inspector does not listen after {_START_TIMEOUT_S:g} s; see its log")
        time.sleep(0.2)
    nodes.check()
    return f"http://{_HOST}:{port}/"


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((_HOST, port)) == 0

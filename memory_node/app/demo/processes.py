"""Starts the demo's nodes as processes of their own, or all in one, and ends them."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

from memory_node.domain.errors import RobotMemoryError
from memory_node.nodes.run import CANNOT_START, END_WITH_PARENT

# Time that an ending node has to make everything durable.
_GRACE_S = 10.0
# The same for all nodes together after Ctrl-C: the demo's memory is discarded anyway.
_HURRIED_S = 0.2


class NodeProcesses:
    """Node processes of one run; a context manager that ends them.

    Args:
        domain_id: the DDS domain of the run; traffic stays on the loopback interface.
        log_folder: where each process's output goes.
    """

    def __init__(self, domain_id: int, log_folder: Path) -> None:
        self._environment = {
            **os.environ,
            "ROS_DOMAIN_ID": str(domain_id),
            "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
            "PYTHONUNBUFFERED": "1",
            END_WITH_PARENT: "1",
        }
        self._log_folder = log_folder
        self._log_folder.mkdir(parents=True, exist_ok=True)
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._logged: set[str] = set()

    def __enter__(self) -> NodeProcesses:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        interrupted = kind is not None and issubclass(kind, (KeyboardInterrupt, SystemExit))
        self.stop(_HURRIED_S if interrupted else _GRACE_S)

    def start_all(self, parameters: Mapping[str, Mapping[str, object]], composed: bool = False) -> None:
        """Start every node of `parameters` (node -> parameter -> value), each in a process or all in one."""
        for nodes in [tuple(parameters)] if composed else [(node,) for node in parameters]:
            self.start(nodes, parameters)

    def start(self, nodes: Sequence[str], parameters: Mapping[str, Mapping[str, object]]) -> None:
        """Start one process that runs `nodes`."""
        name = "+".join(nodes)
        arguments = [f"{node}:{key}:={value}" for node in nodes for key, value in parameters[node].items()]
        ros = ["--ros-args", *(word for argument in arguments for word in ("-p", argument))]
        self.start_program(name, ["memory_node.nodes.run", *nodes, *(ros if arguments else [])])

    def start_program(self, name: str, words: Sequence[str]) -> None:
        """Start one process that runs a module with arguments; words: its name, then those."""
        # What an earlier run has left there must not be told as the end of this one's log.
        mode = "ab" if name in self._logged else "wb"
        self._logged.add(name)
        with (self._log_folder / f"{name}.log").open(mode) as log:
            self._processes[name] = subprocess.Popen(
                [sys.executable, "-m", *words],
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def process_id(self, name: str) -> int:
        """Return the id of the process that was started under a name."""
        return self._processes[name].pid

    def kill(self, name: str) -> None:
        """End a process as a crash would: SIGKILL."""
        self._processes[name].kill()
        self._processes.pop(name).wait(_GRACE_S)

    def check(self) -> None:
        """Raise if a process has ended by itself.

        Raises:
            RobotMemoryError: one has; the message is why it could not start, or the end of its log.
        """
        for name, process in self._processes.items():
            if process.poll() is not None:
                log = (self._log_folder / f"{name}.log").read_text(errors="replace").splitlines()
                if log and CANNOT_START in log[-1]:
                    raise RobotMemoryError(log[-1])
                tail = "\n".join(log[-15:])
                raise RobotMemoryError(f"the process of {name} ended with status {process.returncode}:\n{tail}")

    def stop(self, within_s: float = _GRACE_S) -> None:
        """Ask every process to end, and kill what has not after so long."""
        for process in self._processes.values():
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(signal.SIGINT)
        deadline_s = time.monotonic() + within_s
        for process in self._processes.values():
            try:
                process.wait(max(deadline_s - time.monotonic(), 0.0))
            except subprocess.TimeoutExpired:
                process.kill()
        for process in self._processes.values():
            process.wait(_GRACE_S)
        self._processes.clear()


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

"""The nodes that `bench hostile` attacks: processes in a folder of the run, where every file they make is seen."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks.process_figures import ProcessFigures, figures_of
from memory_node.nodes.run import END_WITH_PARENT
from memory_node.search.minilm import models_folder

# A node ends within 2 s of a signal by its own account; a machine with other work may take longer.
_END_LIMIT_S = 15.0
_SPACE = "robot"


class AttackedNodes:
    """Processes of our nodes on a domain of their own; a context manager that ends them.

    The skills node runs in a namespace, because the home offers the same action.

    Args:
        folder: of the run; home, working and temporary folders of the processes are below it.
        domain_id: the DDS domain; traffic stays on the loopback interface.
        names: which nodes.
        detector: parameters of the detector, whose model somebody has to bring; empty: it is left out.
    """

    def __init__(self, folder: Path, domain_id: int, names: Sequence[str], detector: Mapping[str, str]) -> None:
        self._folder = folder
        # Two folders deep, so that a path with two dots does not leave the run.
        self._work, self._home, self._data, self._logs = (
            folder / name for name in ("deep/down/work", "deep/down/home", "deep/down/data", "logs")
        )
        for each in (self._work, self._home, self._data, self._logs):
            each.mkdir(parents=True)
        user = ("HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "TMPDIR")
        self._environment = {
            **os.environ,
            **dict.fromkeys(user, str(self._home)),
            "ROBOT_MEMORY_MODELS": str(models_folder()),
            "ROS_DOMAIN_ID": str(domain_id),
            "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
            "PYTHONUNBUFFERED": "1",
            "PYTHONPATH": os.pathsep.join([str(Path(__file__).resolve().parents[1]), os.environ.get("PYTHONPATH", "")]),
            END_WITH_PARENT: "1",
        }
        arguments = {
            "memory": ["-p", f"memory:database:={self.database}"],
            "planner": [],
            "home": ["-p", "home:speed:=1.0"],
            "skills": ["-r", f"__ns:=/{_SPACE}"],
            "detector": [word for key, value in detector.items() for word in ("-p", f"detector:{key}:={value}")],
        }
        self._arguments = {name: arguments[name] for name in names if name != "detector" or detector}
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> AttackedNodes:
        return self

    def __exit__(self, *_: object) -> None:
        for name in tuple(self._processes):
            self.end(name)

    @property
    def names(self) -> tuple[str, ...]:
        """The nodes by their kind."""
        return tuple(self._arguments)

    @staticmethod
    def full_name(name: str) -> str:
        """Return a node's name with its namespace."""
        return f"/{_SPACE}/{name}" if name == "skills" else f"/{name}"

    @property
    def database(self) -> Path:
        """What the memory node keeps."""
        return self._data / "memory.db"

    def log_of(self, name: str) -> Path:
        """Return where a node's output goes, of all its lives."""
        return self._logs / f"{name}.log"

    def start(self, name: str) -> None:
        """Start a node."""
        with self.log_of(name).open("ab") as log:
            self._processes[name] = subprocess.Popen(
                [sys.executable, "-m", "memory_node.nodes.run", name, "--ros-args", *self._arguments[name]],
                cwd=self._work,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def end(self, name: str) -> bool:
        """Ask a node to end; return whether it did so by itself. One that does not is killed."""
        process = self._processes.pop(name)
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGINT)
        try:
            return process.wait(_END_LIMIT_S) == 0
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(_END_LIMIT_S)
            return False

    def kill(self, name: str) -> None:
        """End a node as a crash would."""
        process = self._processes.pop(name)
        process.kill()
        process.wait(_END_LIMIT_S)

    def is_running(self, name: str) -> bool:
        """Return whether a node that was started has not ended."""
        return name in self._processes and self._processes[name].poll() is None

    def figures(self, name: str) -> ProcessFigures:
        """Return what a running node takes."""
        return figures_of(self._processes[name].pid)

    def strange_files(self) -> Iterator[Path]:
        """Yield the files below the run's folder that are neither the store's, nor logs, nor what the run brought."""
        state = self._home / "robot_memory"
        # The planner's, unless `session_file` says otherwise, and the store's mark of this machine.
        own = (state / "session.json", state / "installation.json")
        expected = (self._logs, self._data, self._folder / "brought", self._home / ".ros" / "log", *own)
        for path in self._folder.rglob("*"):
            if path.is_file() and not any(path.is_relative_to(folder) for folder in expected):
                yield path

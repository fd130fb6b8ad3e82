"""Nodes as processes of their own, which tests send signals to."""

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest


class NodeProcess:
    """One process of `memory_node.nodes.run`, or of another module or script."""

    def __init__(self, name: str, command: list[str], domain_id: int, log: Path) -> None:
        self.name = name
        self._log = log
        environment = {**os.environ, "ROS_DOMAIN_ID": str(domain_id), "PYTHONUNBUFFERED": "1"}
        with log.open("wb") as output:
            self._process = subprocess.Popen(
                [sys.executable, *command],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def log(self) -> str:
        """What it has printed."""
        return self._log.read_text(errors="replace")

    def signal(self, number: int) -> float:
        """Send a signal; return the monotonic time of that."""
        self._process.send_signal(number)
        return time.monotonic()

    def wait(self, timeout_s: float) -> int:
        """Return the exit status; fail when it does not end in time.

        For as long as its threads wait for a processor that others use, time stands still, for a minute at most.
        """
        begun_s, queued_before_s, queued_s = time.monotonic(), self._queued_s(), 0.0
        while self._process.poll() is None:
            queued_s = min(max(queued_s, self._queued_s() - queued_before_s), 60.0)
            if time.monotonic() - begun_s > timeout_s + queued_s:
                pytest.fail(
                    f"{self.name} has not ended after {timeout_s} s (+ {queued_s:.1f} s in queues):\n{self.log}"
                )
            time.sleep(0.01)
        return self._process.returncode

    def _queued_s(self) -> float:
        """Return for how long its threads have waited for a processor, all together; 0 where Linux does not tell."""
        queued_ns = 0
        for path in Path(f"/proc/{self._process.pid}/task").glob("*/schedstat"):
            with contextlib.suppress(OSError, IndexError):
                queued_ns += int(path.read_text().split()[1])
        return queued_ns * 1e-9

    def close(self) -> None:
        """Leave nothing behind, whatever the test came to."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait(10.0)


@contextmanager
def node_processes(
    folder: Path, domain_id: int, parameters: Mapping[str, Mapping[str, Any]]
) -> Iterator[dict[str, NodeProcess]]:
    """Yield a process for each node of `parameters` (node -> parameter -> value)."""
    started: dict[str, NodeProcess] = {}
    try:
        for name, values in parameters.items():
            words = [word for key, value in values.items() for word in ("-p", f"{name}:{key}:={value}")]
            command = ["-m", "memory_node.nodes.run", name, *(["--ros-args", *words] if words else [])]
            started[name] = NodeProcess(name, command, domain_id, folder / f"{name}.log")
        yield started
    except BaseException:
        for process in started.values():
            print(f"--- {process.name}\n{process.log}")
        raise
    finally:
        for process in started.values():
            process.close()

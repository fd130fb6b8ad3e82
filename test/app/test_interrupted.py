"""A command or a demo that is interrupted ends at once, and does what was registered for its end."""

import argparse
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from free_domain import free_domain

from memory_node.app.demo import client, command, processes

_INTERRUPTED = """
import atexit, sys
from memory_node import cli

class Large:
    def __del__(self):
        print("taken apart")

class Command:
    def add_arguments(self, parser):
        pass
    def run(self, args):
        self.kept = Large()
        modules_keep.append(self)
        raise KeyboardInterrupt

modules_keep = []
atexit.register(print, "registered")
cli._declared = lambda module, parser: Command()
sys.argv = ["memory-node", "demo"]
print("begins", end="; ")
sys.exit(cli.main())
"""


def test_nothing_is_taken_apart_and_what_was_registered_is_done() -> None:
    run = subprocess.run([sys.executable, "-c", _INTERRUPTED], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout, run.stderr) == (130, "begins; registered\n", "")


# Of the demo and its nodes, from Ctrl-C to the end.
MOST_CPU_S = 3.0


def of_domain(domain_id: int) -> set[int]:
    """Return the processes of a ROS domain."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "environ").read_bytes().split(b"\0")
            state = (folder / "stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if f"ROS_DOMAIN_ID={domain_id}".encode() in words and state != "Z":
            found.add(int(folder.name))
    return found


def cpu_s(processes: set[int]) -> float:
    """Return the processor time that these processes, and children that they waited for, have used so far."""
    ticks = 0
    for process in processes:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def cpu_of_ended_children_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


# Beside other work a second on the clock says little. What must be small is the work that is left to do.
@pytest.mark.timeout(300)
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks into Linux' /proc")
def test_nothing_of_a_demo_is_left_soon_after_ctrl_c(tmp_path: Path) -> None:
    domain_id = free_domain()
    before, earlier_children_s = of_domain(domain_id), cpu_of_ended_children_s()
    words = ["-m", "memory_node.cli", "demo", "--headless", "--out", str(tmp_path / "out")]
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    environment = {**os.environ, "TMPDIR": str(temporary)}
    demo = subprocess.Popen(
        [sys.executable, *words, "--domain-id", str(domain_id)],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        deadline_s = time.monotonic() + 120.0
        while not (tmp_path / "out" / "full" / "planner.log").exists() and time.monotonic() < deadline_s:
            time.sleep(0.1)
        assert of_domain(domain_id) - before, "the demo starts its nodes"
        time.sleep(1.0)
        used_s = cpu_s(of_domain(domain_id) - before | {demo.pid})
        demo.send_signal(signal.SIGINT)
        assert demo.wait(100.0) == 130
        assert of_domain(domain_id) - before == set()
        assert cpu_of_ended_children_s() - earlier_children_s - used_s < MOST_CPU_S
        assert "Traceback" not in (demo.stderr.read() if demo.stderr else "")
        assert [path for path in temporary.rglob("*") if path.suffix == ".db"] == []
    finally:
        demo.kill()
        demo.wait(10.0)


class _Told:
    """Stands for a part of the demo; notes when it ends."""

    def __init__(self, name: str, ended: list[str]) -> None:
        self._name, self._ended = name, ended

    def __call__(self, *_: object) -> "_Told":
        return self

    def __enter__(self) -> "_Told":
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.append(self._name)

    def start_all(self, *_: object, **__: object) -> None:
        """Start nothing."""

    def check(self) -> None:
        """Find nothing wrong."""

    def wait_ready(self, *_: object) -> None:
        """Be interrupted while waiting."""
        raise KeyboardInterrupt


def test_the_demo_leaves_dds_while_its_nodes_can_still_acknowledge_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cyclone DDS keeps a writer for a second where a reader that died has not acknowledged all."""
    ended: list[str] = []
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setattr(client, "DemoClient", _Told("client", ended))
    monkeypatch.setattr(processes, "NodeProcesses", _Told("nodes", ended))
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    with pytest.raises(KeyboardInterrupt):
        command.run(parser.parse_args(["--headless", "--domain-id", "0", "--out", str(tmp_path)]))
    assert ended == ["client", "nodes"]

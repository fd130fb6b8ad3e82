"""Starting nodes where something is missing."""

import os
import platform
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import rclpy

from memory_node.domain.errors import InvalidValueError, PortTakenError, RobotMemoryError
from memory_node.nodes import home
from memory_node.nodes.run import NODES, give_back, run_nodes
from memory_node.store.errors import StoreInUseError


def test_node_without_rclpy_tells_what_to_install() -> None:
    code = (
        "import sys; sys.modules['ros_embedded'] = None\n"
        "from memory_node.nodes.run import run_node; sys.exit(run_node('memory'))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"ROS_EMBEDDED": "1"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == os.EX_CONFIG
    assert done.stderr.startswith("memory cannot start: no rclpy: source a ROS 2, or install ros_embedded")


@pytest.mark.parametrize(
    ("error", "status"),
    [(InvalidValueError("x"), os.EX_CONFIG), (StoreInUseError("x"), 1), (PortTakenError("x"), 1)],
)
def test_only_what_would_end_a_node_again_is_a_wrong_configuration(
    error: RobotMemoryError, status: int, monkeypatch: pytest.MonkeyPatch, refused: Callable[..., str]
) -> None:
    def fail() -> None:
        raise error

    monkeypatch.setattr(home, NODES["home"][1], fail)
    assert run_nodes(["home"], ["test"]) == status


def test_only_arguments_and_security_of_what_ros_refuses_are_a_wrong_configuration(
    monkeypatch: pytest.MonkeyPatch, refused: Callable[..., str]
) -> None:
    def fail(**_: object) -> None:
        raise RuntimeError("no network interface")

    assert run_nodes(["home"], ["test", "--ros-args", "-r", "no rule"]) == os.EX_CONFIG
    monkeypatch.setattr(rclpy, "init", fail)
    assert run_nodes(["home"], ["test"]) == 1
    monkeypatch.setenv("ROS_SECURITY_ENABLE", "true")
    assert run_nodes(["home"], ["test"]) == os.EX_CONFIG


def test_process_ends_without_taking_the_interpreter_apart() -> None:
    """Of a memory node that took 0.5 s of processor time, and 8 s on a machine with a load of 20."""
    code = (
        "import atexit, sys; from memory_node.nodes.run import end_process\n"
        "class Large:\n"
        "    def __del__(self): print('taken apart')\n"
        "large = Large(); sys.stdout.write('last words\\n')\n"
        "atexit.register(print, 'closed'); end_process(3)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout.split("\n")) == (3, ["last words", "closed", ""])


def _resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="gives back what glibc keeps")
def test_freed_blocks_between_others_go_back_to_the_system() -> None:
    blocks = [bytes(50_000) for _ in range(4_000)]
    for number in range(len(blocks)):
        if number % 10:
            blocks[number] = b""
    before_mb = _resident_mb()
    give_back()
    assert _resident_mb() < before_mb - 100.0

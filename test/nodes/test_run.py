"""Starting nodes where something is missing."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import rclpy
from free_domain import free_domain

from memory_node.domain.errors import InvalidValueError, PortTakenError, RobotMemoryError
from memory_node.nodes import home
from memory_node.nodes.run import NODES, configure_cyclone, give_back, run_nodes
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


ENDS_WITHIN_S = 2.0
_LISTENER = """
from memory_node.nodes.run import activate_ros
activate_ros()
import rclpy
from std_msgs.msg import String
rclpy.init()
node = rclpy.create_node("listener")
kept = [node.create_subscription(String, f"word_{i}", lambda message: None, 10) for i in range(4)]
rclpy.spin(node)
"""
_SPEAKER = """
import time
from memory_node.nodes.run import activate_ros, configure_cyclone
activate_ros()
configure_cyclone()
import rclpy
from std_msgs.msg import String
rclpy.init()
node = rclpy.create_node("speaker")
speakers = [node.create_publisher(String, f"word_{i}", 10) for i in range(4)]
while any(speaker.get_subscription_count() == 0 for speaker in speakers):
    time.sleep(0.05)
print("heard", flush=True)
input()
for speaker in speakers:
    speaker.publish(String(data="a word"))
begun_s = time.monotonic()
node.destroy_node()
rclpy.shutdown()
print("left after", time.monotonic() - begun_s, flush=True)
"""


def test_node_leaves_soon_when_those_it_told_something_were_killed() -> None:
    environment = {**os.environ, "ROS_DOMAIN_ID": str(free_domain())}
    environment.pop("CYCLONEDDS_URI", None)
    listener = subprocess.Popen([sys.executable, "-c", _LISTENER], env=environment)
    speaker = subprocess.Popen(
        [sys.executable, "-c", _SPEAKER], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert speaker.stdout.readline() == "heard\n"
        listener.kill()
        listener.wait(10.0)
        told, _ = speaker.communicate("\n", timeout=60.0)
        assert float(told.removeprefix("left after")) < ENDS_WITHIN_S
    finally:
        for process in (listener, speaker):
            process.kill()
            process.wait(10.0)


def test_what_the_user_says_of_cyclone_comes_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CYCLONEDDS_URI", "file:///own.xml")
    configure_cyclone()
    configure_cyclone()
    ours, _, own = os.environ["CYCLONEDDS_URI"].rpartition(",")
    assert own == "file:///own.xml"
    assert ours.count("SocketReceiveBufferSize") == 1

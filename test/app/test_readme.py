"""The README's robot section runs as written: whole where a ROS 2 is sourced (cloning and rosdep apart), and what it
says to ros2 also on ros_embedded, and on the real rclpy of `make test-rclpy`."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from free_domain import free_domain

from memory_node.nodes.run import activate_ros

ROOT = Path(__file__).resolve().parents[2]
HAS_ROS = shutil.which("ros2") is not None and shutil.which("colcon") is not None
# What a reader has done before, and what shows a window.
LEFT_OUT = ("git clone", "rosdep ", "rviz2 ")
# Launched until the next launch; its nodes answer once the planner says so.
LAUNCH = "ros2 launch "
READY = """waited=0
until grep -q 'ready at execute_instruction' launched.log || [ $((waited += 1)) -gt 300 ]; do sleep 0.2; done
kill -0 $launched"""


def commands() -> list[str]:
    """Return the lines of the section's indented blocks."""
    section = (ROOT / "README.md").read_text().partition("## On a robot\n")[2].partition("\n## ")[0]
    lines = [line.strip() for line in section.splitlines() if line.startswith("    ")]
    return [line for line in lines if line and not line.startswith("#")]


def script(lines: list[str]) -> str:
    """Return a shell script of the lines that stops at the first that fails."""
    stop = "kill -INT $launched; wait $launched || true; cat launched.log; launched="
    stop = f'if [ -n "${{launched:-}}" ]; then {stop}; fi'
    # With job control what runs in the background does not ignore SIGINT.
    written = ["set -eo pipefail", "set -m", "trap '[ -z \"${launched:-}\" ] || kill -INT $launched; wait' EXIT"]
    for line in lines:
        if any(part in line for part in LEFT_OUT):
            continue
        written.append(f"echo {shlex.quote('$ ' + line)}")
        if line.startswith(LAUNCH) and "--show-args" not in line:
            written += [stop, f"{line} >launched.log 2>&1 & launched=$!", READY]
        else:
            written.append(line)
    return "\n".join([*written, stop])


def run(lines: list[str], folder: Path, timeout_s: float, **more: str) -> str:
    """Run the lines in a home of their own; return what they print."""
    environment = {**os.environ, "HOME": str(folder), "ROS_DOMAIN_ID": str(free_domain()), **more}
    environment |= {"XDG_DATA_HOME": str(folder / ".local" / "share"), "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}
    done = subprocess.run(
        ["bash", "-c", script(lines)], cwd=folder, env=environment, timeout=timeout_s, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    # What pytest tells of tests that failed may have much behind it.
    failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED ", "ERROR "))]
    told = "\n".join([*failed, done.stdout[-5000:]])
    assert done.returncode == 0, told
    assert "Traceback" not in done.stdout, told
    return done.stdout


@pytest.mark.timeout(3600)
def test_whole_section_runs_on_the_ros_that_is_sourced(tmp_path: Path) -> None:
    if not HAS_ROS:
        pytest.skip("no ROS 2 with colcon is sourced")
    workspace = tmp_path / "ros2_ws"
    (workspace / "src").mkdir(parents=True)
    (workspace / "src" / "robot_memory").symlink_to(ROOT)
    printed = run([f"cd {workspace}", *commands()], tmp_path, 3500.0)
    assert "needs_answer" in printed


@pytest.mark.timeout(600)
def test_what_it_says_to_ros2_runs_where_none_is_sourced(tmp_path: Path) -> None:
    activate_ros()
    import rclpy

    if "ros_embedded" not in str(rclpy.__file__) and os.environ.get("ROS_EMBEDDED") != "companions":
        pytest.skip("a real ROS 2 is sourced")
    (tmp_path / "bin").mkdir()
    shim = tmp_path / "bin" / "ros2"
    shim.write_text(f'#!/bin/sh\nexec {sys.executable} -m ros_embedded "$@"\n')
    shim.chmod(0o755)
    lines = [line for line in commands() if line.startswith("ros2 ")]
    assert len(lines) >= 5
    printed = run(lines, tmp_path, 550.0, PATH=f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    assert "memory is empty" in printed  # nobody publishes a camera's images here
    said = "instruction 'bring me the apple': needs an answer: I do not know where you are"
    assert said in printed, printed.partition("Sending goal")[2][:2500]

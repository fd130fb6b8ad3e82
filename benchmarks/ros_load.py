"""Memory under a robot's streams, beside a plain node that subscribes to the same: CPU by process, frames, latency."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.process_figures import processor_s
from benchmarks.ros_load_kinds import LOADS
from memory_node.domain.errors import RobotMemoryError
from memory_node.nodes.run import END_WITH_PARENT

_SETTLE_S = 2.0  # discovery and what it costs
_IDLE_S = 4.0
_REST_S = 2.5  # what was published last is worked off, and told on /diagnostics
_PATIENCE_S = 30.0
_ENDS_S = 10.0


def measure_load(kind: str, seconds: float, domain: int) -> dict[str, Any]:
    """Measure one of LOADS with four processes: robot, memory, plain listener, observer.

    cpu: percent of one core that a process took, less what it took before anything was published.

    Raises:
        RobotMemoryError: a process failed, or nothing came.
    """
    with tempfile.TemporaryDirectory(prefix="bench_ros_") as folder, ExitStack() as stack:
        environment = _environment(Path(folder), domain)
        command = [sys.executable, "-m", "memory_node.nodes.run", "memory", "--ros-args"]
        given = {"database": f"{folder}/memory.db", **LOADS[kind].parameters}
        command += [word for name, value in given.items() for word in ("-p", f"memory:{name}:={value}")]
        processes = {"memory": stack.enter_context(_process(command, environment))}
        for role in ("listener", "observer", "robot"):
            words = [sys.executable, "-m", "benchmarks.ros_load_nodes", role, kind, str(seconds)]
            processes[role] = stack.enter_context(_process(words, environment))
        try:
            return _measured(kind, seconds, processes)
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            raise RobotMemoryError(f"{kind} could not be measured: {error}") from error


def _measured(kind: str, seconds: float, processes: Mapping[str, subprocess.Popen[str]]) -> dict[str, Any]:
    robot = processes["robot"]
    for role in ("listener", "observer", "robot"):
        if _line_of(processes[role]) != "ready\n":
            raise ValueError(f"the {role} did not start")
    time.sleep(_SETTLE_S)
    begun = _used_s(processes)
    time.sleep(_IDLE_S)
    idle = _used_s(processes)
    assert robot.stdin is not None
    robot.stdin.write("go\n")
    robot.stdin.flush()
    sent = json.loads(_line_of(robot))
    busy = _used_s(processes)
    cpu = {
        role: 100.0 * ((busy[role] - idle[role]) / seconds - (idle[role] - begun[role]) / _IDLE_S)
        for role in ("memory", "listener", "robot")
        if role in busy
    }
    time.sleep(_REST_S)
    taken, seen = (json.loads(processes[role].communicate(timeout=_PATIENCE_S)[0]) for role in ("listener", "observer"))
    used, late_ms = int(seen["inputs"].get("used.frames", 0)), seen["late_ms"]
    return {
        "kind": kind,
        "tf": sent["tf"],
        "frames": sent["frames"],
        "used": used,
        **{group: _reasons(seen["inputs"], f"{group}.") for group in ("dropped", "skipped")},
        "frames_per_s": round(used * LOADS[kind].image_hz / sent["frames"], 1) if sent["frames"] else None,
        "p50_ms": round(float(np.percentile(late_ms, 50)), 1) if late_ms else None,
        "p99_ms": round(float(np.percentile(late_ms, 99)), 1) if late_ms else None,
        "memory_cpu": round(cpu["memory"], 1),
        "plain_cpu": round(cpu["listener"], 1),
        "ratio": round(cpu["memory"] / max(cpu["listener"], 0.1), 2),
        "robot_cpu": round(cpu["robot"], 1),
        "plain_images": taken["taken"],
        "load_average": round(os.getloadavg()[0], 1),
    }


def _reasons(inputs: Mapping[str, str], group: str) -> str:
    found = {name.removeprefix(group): count for name, count in inputs.items() if name.startswith(group)}
    return ", ".join(f"{reason} {count}" for reason, count in found.items())


def _line_of(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline()


def _used_s(processes: Mapping[str, subprocess.Popen[str]]) -> dict[str, float]:
    return {role: processor_s(process.pid) for role, process in processes.items() if process.poll() is None}


def _environment(folder: Path, domain: int) -> dict[str, str]:
    homes = ("HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "ROS_LOG_DIR")
    root = str(Path(__file__).resolve().parents[1])
    return {
        **os.environ,
        **dict.fromkeys(homes, str(folder)),
        "ROS_DOMAIN_ID": str(domain),
        "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
        "PYTHONPATH": os.pathsep.join([root, os.environ.get("PYTHONPATH", "")]),
        END_WITH_PARENT: "1",
    }


@contextmanager
def _process(command: list[str], environment: Mapping[str, str]) -> Iterator[subprocess.Popen[str]]:
    """Run a process in a session of its own: Ctrl-C is for this one, which ends the others."""
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        command, env=dict(environment), stdin=pipe, stdout=pipe, text=True, start_new_session=True
    )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(_ENDS_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(_ENDS_S)

"""Latency, rate and processor time of ROS communication between two processes of this machine.

It measures the real rclpy where that is sourced, and ros_embedded elsewhere or with ROS_EMBEDDED=1.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

KINDS = ("image_640x480", "pose", "service", "action")
DEFAULT_DOMAIN = 97
DEFAULT_SECONDS = 10.0
_PATIENCE_S = 60.0  # beyond the time measured: start, discovery, warm-up


class BenchmarkError(RuntimeError):
    """The two processes could not be measured."""


@dataclass(frozen=True)
class Row:
    """The measurement of one kind; cpu_percent is the share of one core that both processes used together."""

    kind: str
    messages: int
    p50_ms: float
    p99_ms: float
    messages_per_s: float
    cpu_percent: float


def measure(kind: str, seconds: float = DEFAULT_SECONDS, domain: int = DEFAULT_DOMAIN) -> Row:
    """Measure one of KINDS for `seconds`, on the loopback interface, with two fresh processes.

    Raises:
        BenchmarkError: one of the processes failed, or nothing came.

    """
    environment = {**os.environ, "ROS_DOMAIN_ID": str(domain), "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}
    program = [sys.executable, "-m", "ros_embedded.bench_nodes"]
    # In sessions of their own: Ctrl-C is for this process, which ends the others.
    options: dict[str, Any] = {
        "env": environment, "stdout": subprocess.PIPE, "text": True, "start_new_session": True
    }  # fmt: skip
    peer = subprocess.Popen([*program, "peer", kind], **options)
    try:
        command = [*program, "probe", kind, str(seconds)]
        probe = subprocess.run(command, check=True, timeout=seconds + _PATIENCE_S, **options)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        raise BenchmarkError(f"{kind} could not be measured: {error}") from error
    finally:
        peer.terminate()
        peer_output, _ = peer.communicate(timeout=_PATIENCE_S)
    try:
        latencies_ms, cpu_share = json.loads(probe.stdout.splitlines()[-1])
        peer_cpu_share = float(peer_output)
    except (ValueError, IndexError) as error:
        raise BenchmarkError(f"{kind} could not be measured: a process ended without its figures") from error
    p50_ms, p99_ms = np.percentile(latencies_ms, (50, 99))
    return Row(
        kind=kind,
        messages=len(latencies_ms),
        p50_ms=round(float(p50_ms), 3),
        p99_ms=round(float(p99_ms), 3),
        messages_per_s=round(len(latencies_ms) / seconds, 1),
        cpu_percent=round(100 * (cpu_share + peer_cpu_share), 1),
    )

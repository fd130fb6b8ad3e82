"""`memory-node bench ros`: latency, rate and CPU of ROS communication between two processes on this machine."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.rows import emit
from memory_node.app.progress import progress_bar
from memory_node.domain.errors import RobotMemoryError

HELP = "latency and throughput of ROS 2 communication"
KINDS = ("image_640x480", "pose", "service", "action")
_ACTIVATE = "from memory_node.nodes.run import activate_ros; activate_ros(); "
_PEER = _ACTIVATE + "from memory_node.nodes.ros_benchmark import main; main()"
_PROBE = _ACTIVATE + (
    "import json, sys; from memory_node.nodes.ros_benchmark import measure; "
    "print(json.dumps(measure(sys.argv[1], float(sys.argv[2]))))"
)
_PATIENCE_S = 60.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS), help="what to measure (default: all)")
    parser.add_argument("--seconds", type=float, default=10.0, help="how long to measure each kind (default 10)")
    parser.add_argument("--domain", type=int, default=97, help="ROS domain to measure in, on loopback (default 97)")


def run(args: argparse.Namespace) -> int:
    """Measure each kind with two fresh processes."""
    emit(_rows(args.kinds, args.seconds, args.domain), args.json)
    return 0


def _rows(kinds: list[str], seconds: float, domain: int) -> Iterator[dict[str, Any]]:
    environment = {**os.environ, "ROS_DOMAIN_ID": str(domain), "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}
    with progress_bar() as progress:
        for kind in progress.track(kinds, description="bench ros"):
            yield _row(kind, seconds, environment)


def _row(kind: str, seconds: float, environment: dict[str, str]) -> dict[str, Any]:
    peer = subprocess.Popen([sys.executable, "-c", _PEER, kind], env=environment, stdout=subprocess.PIPE, text=True)
    try:
        probe = subprocess.run(
            [sys.executable, "-c", _PROBE, kind, str(seconds)],
            env=environment, stdout=subprocess.PIPE, text=True, check=True, timeout=seconds + _PATIENCE_S,
        )  # fmt: skip
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        raise RobotMemoryError(f"the {kind} of the two processes could not be measured: {error}") from error
    finally:
        peer.terminate()
        peer_share, _ = peer.communicate(timeout=_PATIENCE_S)
    latencies_ms, cpu_s = json.loads(probe.stdout.splitlines()[-1])
    return {
        "kind": kind,
        "messages": len(latencies_ms),
        "p50_ms": round(float(np.percentile(latencies_ms, 50)), 3),
        "p99_ms": round(float(np.percentile(latencies_ms, 99)), 3),
        "messages_per_s": round(len(latencies_ms) / seconds, 1),
        "cpu_percent": round(100 * (cpu_s / seconds + float(peer_share)), 1),
    }

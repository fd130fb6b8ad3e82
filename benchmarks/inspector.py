"""`bench inspector`: what looking into memory costs the robot, how fast REST finds, how fast the page is there."""

from __future__ import annotations

import argparse
import http.client
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.inspected_process import inspected_by, stored_memory
from benchmarks.inspector_clients import Clients, page_rows
from benchmarks.process_figures import processor_s
from benchmarks.rows import emit
from memory_node.app.progress import shown
from memory_node.domain.errors import RobotMemoryError
from memory_node.nodes.run import checked_domain
from memory_node.nodes.unused_domain import unused_domain

_WARM_UP, _ASKED = 20, 300
# Classes and words: the first are looked up, the others are embedded and ranked.
_QUESTIONS = ({"text": "mug"}, {"object_class": "Bowl"}, {"text": "something to drink from"}, {"text": "a red apple"})


def find_row(objects: int, folder: Path, seed: int) -> dict[str, Any]:
    """Ask one question after the other over one connection; return the answers' times, and the processor time of one.

    Raises:
        RobotMemoryError: an answer is none.
    """
    database = stored_memory(folder / f"find_{objects}.db", objects, seed)
    with inspected_by("--database", str(database), "--read-only") as (port, process):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        for turn in range(_WARM_UP):
            _ask(connection, turn)
        began = processor_s(process)
        times_ms = [_ask(connection, turn) for turn in range(_ASKED)]
        spent_s = processor_s(process) - began
    return {
        "objects": objects,
        "asked": _ASKED,
        "p50_ms": float(np.percentile(times_ms, 50)),
        "p99_ms": float(np.percentile(times_ms, 99)),
        "most_ms": max(times_ms),
        "cpu_mean_ms": 1e3 * spent_s / _ASKED,
        "load_1min": os.getloadavg()[0],
    }


def _ask(connection: http.client.HTTPConnection, turn: int) -> float:
    body = json.dumps(_QUESTIONS[turn % len(_QUESTIONS)])
    began = time.perf_counter()
    connection.request("POST", "/api/v1/find_objects", body, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    told = answer.read()
    took_ms = 1e3 * (time.perf_counter() - began)
    if answer.status != 200:
        raise RobotMemoryError(f"bench inspector: {answer.status}: {told[:200]!r}")
    return took_ms


PARTS = ("load", "find", "page")
_START_S = 120.0
_SETTLE_S = 3.0
_FIRST_FRAMES = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS), help="what to measure (default: all)")
    parser.add_argument("--objects", type=int, default=2000, help="objects of the memory that maps (default 2000)")
    parser.add_argument("--seconds", type=float, default=30.0, help="of each phase of the load (default 30)")
    parser.add_argument("--rounds", type=int, default=3, help="times that quiet and load take turns (default 3)")
    parser.add_argument("--rate", type=float, default=10.0, help="frames a second (default 10)")
    parser.add_argument("--polling", type=int, default=50, help="clients that ask once a second (default 50)")
    parser.add_argument("--streaming", type=int, default=10, help="clients that follow changes (default 10)")
    parser.add_argument("--find", type=int, default=100_000, help="objects that REST finds among (default 100000)")
    parser.add_argument("--page", type=int, nargs="+", default=[2000, 20_000], help="objects of the page")
    parser.add_argument("--domain", type=int, help="ROS domain, on loopback (default: one that nothing of ours uses)")


def run(args: argparse.Namespace) -> int:
    """Measure each part; every part has rows of its own."""
    with tempfile.TemporaryDirectory() as folder:
        if "load" in args.parts:
            emit(load_rows(args, Path(folder)), args.json)
        if "find" in args.parts:
            emit([find_row(args.find, Path(folder), args.seed)], args.json)
        if "page" in args.parts:
            emit(page_rows(args.page, args.seed), args.json)
    return 0


class Robot:
    """The process that maps; its frames come in as they are taken."""

    def __init__(self, args: argparse.Namespace, folder: Path) -> None:
        command = [sys.executable, "-m", "benchmarks.inspector_robot", str(folder / "memory.db"), str(args.objects)]
        self._process = subprocess.Popen(
            [*command, str(args.rate), str(args.seed)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.frames: list[dict[str, float]] = []
        threading.Thread(target=self._read, daemon=True).start()

    def wait(self) -> None:
        """Wait for the first frames.

        Raises:
            RobotMemoryError: none comes in time.
        """
        deadline = time.monotonic() + _START_S
        while len(self.frames) < _FIRST_FRAMES:
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RobotMemoryError("bench inspector: the robot takes no frames; see its output")
            time.sleep(0.1)

    def processor_s(self) -> float:
        """Return the processor time of the process so far."""
        return processor_s(self._process.pid)

    def end(self) -> None:
        """End it."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(10.0)

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith("{"):
                self.frames.append(json.loads(line))


def load_rows(args: argparse.Namespace, folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the frames' times with nobody looking, and under load; the phases take turns, so that both see the same
    machine."""
    domain_id = unused_domain() if args.domain is None else checked_domain(args.domain, "--domain")
    environment = {"ROS_DOMAIN_ID": str(domain_id), "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}
    os.environ.update(environment)
    robot = Robot(args, folder)
    phases: dict[str, list[dict[str, float]]] = {"quiet": [], "load": []}
    spent = {"quiet": 0.0, "load": 0.0, "inspector": 0.0}
    seen: dict[str, float] = {"answers": 0, "refused": 0, "events": 0, "behind": 0}
    try:
        robot.wait()
        with inspected_by("--node", "memory") as (port, inspector):
            for _ in shown(range(args.rounds), "rounds"):
                for phase in phases:
                    clients = Clients(port, args.polling if phase == "load" else 0, args.streaming)
                    if phase == "load":
                        clients.start()
                    time.sleep(_SETTLE_S)
                    first, began, inspected = len(robot.frames), robot.processor_s(), processor_s(inspector)
                    time.sleep(args.seconds)
                    phases[phase] += robot.frames[first:]
                    spent[phase] += robot.processor_s() - began
                    if phase == "load":
                        spent["inspector"] += processor_s(inspector) - inspected
                        seen["behind"] += clients.stop(int(robot.frames[-1]["version"]))
                        seen["answers"] += clients.asked.statuses.total()
                        seen["refused"] += clients.asked.statuses.total() - clients.asked.statuses[200]
                        seen["events"] += clients.asked.events
    finally:
        robot.end()
    for phase, frames in phases.items():
        under = seen if phase == "load" else dict.fromkeys(seen, 0)
        yield _frames_row(phase, frames, args, spent[phase], spent["inspector"] if phase == "load" else 0.0) | under


def _frames_row(
    phase: str, frames: list[dict[str, float]], args: argparse.Namespace, robot_s: float, inspector_s: float
) -> dict[str, Any]:
    wall, cpu, late = ([frame[name] for frame in frames] for name in ("wall_ms", "cpu_ms", "late_ms"))
    seconds = args.rounds * args.seconds
    return {
        "phase": phase,
        "frames": len(frames),
        "frames_due": round(seconds * args.rate),
        "wall_p50_ms": float(np.percentile(wall, 50)),
        "wall_p99_ms": float(np.percentile(wall, 99)),
        "cpu_p50_ms": float(np.percentile(cpu, 50)),
        "cpu_p99_ms": float(np.percentile(cpu, 99)),
        "late_p99_ms": float(np.percentile(late, 99)),
        "robot_ms_a_frame": 1e3 * robot_s / max(len(frames), 1),
        "inspector_ms_a_s": 1e3 * inspector_s / seconds,
        "load_1min": os.getloadavg()[0],
    }

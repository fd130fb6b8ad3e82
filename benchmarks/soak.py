"""`memory-node bench soak`: the demo's robot works for hours; its processes must not grow."""

from __future__ import annotations

import argparse
import itertools
import os
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.process_figures import figures_of
from benchmarks.rows import emit
from memory_node.app.demo.processes import NodeProcesses
from memory_node.app.progress import progress_bar
from memory_node.domain.errors import InvalidValueError, RobotMemoryError
from memory_node.nodes.run import activate_ros

HELP = "instructions, map changes and restarts for hours: memory, threads and descriptors stay flat"
# Things that the apartment has, told again and again: each leaves the next something to do.
INSTRUCTIONS = (
    "put the apple in the bowl",
    "bring me the apple",
    "wash the mug",
    "put the mug on the dining table",
    "put the book on the sofa",
    "go to the kitchen",
)
WARM_UP_S = 600.0
GROWTH_LIMIT = 0.02
_RESTARTS = 3
_MAP_EVERY = 5
_INSTRUCTION_LIMIT_S = 300.0
_READY_LIMIT_S = 90.0
_AFTER_ERROR_S = 2.0
_TRIES = 4
_NODES = ("home", "memory", "planner")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--minutes", type=float, default=60.0, help="how long (default 60)")
    parser.add_argument("--speed", type=float, default=20.0, help="simulated seconds per second (default 20)")
    parser.add_argument("--domain", type=int, default=60 + os.getpid() % 40, help="ROS domain (default: 60 to 99)")


@dataclass(frozen=True)
class Use:
    """What all processes take together, and each in the order of _NODES."""

    resident_mb: float
    threads: int
    descriptors: int
    resident_mb_by_node: tuple[float, ...] = ()

    @classmethod
    def of(cls, processes: NodeProcesses) -> Use:
        """Return what they take now."""
        found = [figures_of(processes.process_id(node)) for node in _NODES]
        by_node = tuple(one.resident_mb for one in found)
        return cls(sum(by_node), sum(one.threads for one in found), sum(one.descriptors for one in found), by_node)

    def __str__(self) -> str:
        by_node = ", ".join(f"{node} {mb:.1f}" for node, mb in zip(_NODES, self.resident_mb_by_node))
        return f"{self.resident_mb:.1f} MB ({by_node}), {self.threads} threads, {self.descriptors} descriptors"

    def is_flat_since(self, before: Use) -> bool:
        """Return whether nothing has grown by more than the limit."""
        pairs = ((getattr(self, name), getattr(before, name)) for name in ("resident_mb", "threads", "descriptors"))
        return all(now <= then * (1.0 + GROWTH_LIMIT) for now, then in pairs)


def run(args: argparse.Namespace) -> int:
    """Work; exit status 1 when something grew by more than 2 % since the first ten minutes (a third of a short run)."""
    if not 0.0 < args.minutes <= 7 * 24 * 60.0:
        raise InvalidValueError(f"--minutes: expected more than 0 and at most a week, got {args.minutes:g}")
    os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
    activate_ros()
    with tempfile.TemporaryDirectory(prefix="robot_memory_soak_") as text:
        instructions, before, after = _work(args, Path(text))
    row = {
        "minutes": args.minutes,
        "instructions": instructions,
        "rss_start_mb": round(before.resident_mb, 1),
        "rss_end_mb": round(after.resident_mb, 1),
        "threads": after.threads,
        "descriptors": after.descriptors,
    }
    print(f"after the warm-up: {before}; at the end: {after}", file=sys.stderr)
    emit([row], args.json)
    return 0 if after.is_flat_since(before) else 1


def _work(args: argparse.Namespace, folder: Path) -> tuple[int, Use, Use]:
    """Return how many instructions were given, and the use after the warm-up and at the end."""
    from memory_node.app.demo.client import DemoClient

    seconds = args.minutes * 60.0
    warm_s = min(WARM_UP_S, seconds / 3.0)
    parameters: dict[str, dict[str, object]] = {
        "home": {"speed": args.speed, "camera_period_s": 2.0, "seed": args.seed},
        "memory": {
            "database": str(folder / "memory.db"),
            "use_sim_time": "true",
            "scene_graph.clock_jump_s": 3600.0,
        },
        "planner": {"use_sim_time": "true"},
    }
    begun_s = time.monotonic()
    before: Use | None = None
    restarts = 0
    with (
        DemoClient(args.domain) as client,
        NodeProcesses(args.domain, folder / "logs") as processes,
        progress_bar() as progress,
    ):
        processes.start_all(parameters)
        _await(client, processes)
        task = progress.add_task("soaking, seconds", total=seconds)
        instructions = 0
        for number in itertools.count():
            passed_s = time.monotonic() - begun_s
            progress.update(task, completed=passed_s)
            if passed_s >= seconds:
                break
            instructions += _give(client, INSTRUCTIONS[number % len(INSTRUCTIONS)])
            processes.check()
            if number % _MAP_EVERY == _MAP_EVERY - 1:
                _change_map(client, bool(number // _MAP_EVERY % 2))
            # Each restart gives a new process, which grows until it is warm: so they are before the comparison.
            if before is None and restarts < _RESTARTS and passed_s > warm_s * (restarts + 1) / (_RESTARTS + 1.5):
                processes.kill("memory")
                processes.start(["memory"], parameters)
                _await(client, processes)
                restarts += 1
            if before is None and passed_s > warm_s:
                before = Use.of(processes)
        after = Use.of(processes)
        return instructions, before or after, after


def _await(client: Any, processes: NodeProcesses) -> None:
    """Wait until all is ready; a request to a memory that was killed is lost, and asked again."""
    from memory_node.nodes.waiting import PeerTimeoutError

    for attempt in range(_TRIES):
        try:
            client.wait_ready(_READY_LIMIT_S, processes.check)
            return
        except PeerTimeoutError:
            if attempt == _TRIES - 1:
                raise


def _change_map(client: Any, grown: bool) -> None:
    """Publish the home's map, or one that has grown by a metre that nobody has seen, as SLAM does."""
    grid = client.grid
    if grid is None:
        return
    columns = round(1.0 / grid.resolution_m)
    unseen = np.full((grid.cells.shape[0], columns), -1, grid.cells.dtype)
    base = grid.cells[:, :-columns] if (grid.cells[:, -columns:] == -1).all() else grid.cells
    cells = np.hstack([base, unseen]) if grown else base
    client.publish_map(replace(grid, cells=cells))


def _give(client: Any, instruction: str) -> bool:
    """Let the robot do something; return whether it came to an end. Whether it succeeds is not what is measured."""
    try:
        client.carry_out(instruction, "full+experience", lambda feedback: None, _INSTRUCTION_LIMIT_S)
    except RobotMemoryError as error:
        print(f"{instruction!r}: {error}", file=sys.stderr)
        # On a busy machine a planner that was silent for too long is still ending its goal, and refuses the next.
        time.sleep(_AFTER_ERROR_S)
        return False
    return True

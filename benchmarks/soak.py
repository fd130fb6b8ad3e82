"""`memory-node bench soak`: the demo's robot works for hours; its processes must not grow."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.process_figures import figures_of
from benchmarks.rows import emit
from memory_node.app.demo.processes import NodeProcesses
from memory_node.app.progress import progress_bar
from memory_node.domain.errors import InvalidValueError, RobotMemoryError
from memory_node.nodes.run import GIVE_BACK_EVERY_S, activate_ros, checked_domain
from memory_node.nodes.unused_domain import unused_domain

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
# Each restart gives a new process, which grows until it is warm: so they come in this first share of the warm-up.
RESTARTS = 3
RESTARTS_SHARE = 1.0 / 3.0
# What waits for its turn is worked off, and every node gives back once what it has freed.
REST_S = GIVE_BACK_EVERY_S + 10.0
_LOOK_EVERY_S = 1.0
_MAP_EVERY = 5
_INSTRUCTION_LIMIT_S = 300.0
_READY_LIMIT_S = 90.0
_AFTER_ERROR_S = 2.0
_TRIES = 4
_NODES = ("home", "memory", "planner")

DESCRIPTION = f"""Let the demo's robot work for hours: instructions, map changes, and memory killed and started again.
The last is done {RESTARTS} times in the first third of the warm-up of ten minutes (of a short run: a third of it).
After the warm-up and at the end the robot rests for {REST_S:.0f} s, which come on top, so that no picture waits and
every node has given back what it freed. The least that the processes take meanwhile is compared."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.description = DESCRIPTION
    parser.add_argument("--minutes", type=float, default=60.0, help="how long (default 60)")
    parser.add_argument("--speed", type=float, default=20.0, help="simulated seconds per second (default 20)")
    parser.add_argument("--domain", type=int, help="ROS domain (default: one that nothing of ours uses)")


@dataclass(frozen=True)
class Use:
    """What the processes take: the memory of each in the order of _NODES, threads and descriptors of all together."""

    resident_mb_by_node: tuple[float, ...]
    threads: int
    descriptors: int

    @classmethod
    def of(cls, processes: NodeProcesses) -> Use:
        """Return what they take now."""
        found = [figures_of(processes.process_id(node)) for node in _NODES]
        return cls(
            tuple(one.resident_mb for one in found),
            sum(one.threads for one in found),
            sum(one.descriptors for one in found),
        )

    @classmethod
    def least(cls, uses: Sequence[Use]) -> Use:
        """Return the least that each process took, and the least of what all took."""
        memory = zip(*(use.resident_mb_by_node for use in uses), strict=True)
        return cls(tuple(map(min, memory)), min(use.threads for use in uses), min(use.descriptors for use in uses))

    @property
    def resident_mb(self) -> float:
        """The memory of all together."""
        return sum(self.resident_mb_by_node)

    def __str__(self) -> str:
        by_node = ", ".join(f"{node} {mb:.1f}" for node, mb in zip(_NODES, self.resident_mb_by_node, strict=True))
        return f"{self.resident_mb:.1f} MB ({by_node}), {self.threads} threads, {self.descriptors} descriptors"

    def is_flat_since(self, before: Use) -> bool:
        """Return whether nothing has grown by more than the limit."""
        pairs = ((getattr(self, name), getattr(before, name)) for name in ("resident_mb", "threads", "descriptors"))
        return all(now <= then * (1.0 + GROWTH_LIMIT) for now, then in pairs)


def run(args: argparse.Namespace) -> int:
    """Work; exit status 1 when something grew by more than 2 % since the warm-up."""
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
        "home": {"speed": args.speed, "expert.camera_period_s": 2.0, "seed": args.seed},
        "memory": {
            "database": str(folder / "memory.db"),
            "use_sim_time": "true",
            "scene_graph.clock_jump_s": 3600.0,
        },
        "planner": {"use_sim_time": "true"},
    }
    domain_id = unused_domain() if args.domain is None else checked_domain(args.domain, "--domain")
    with (
        DemoClient(domain_id) as client,
        NodeProcesses(domain_id, folder / "logs") as processes,
        progress_bar() as progress,
    ):
        processes.start_all(parameters)
        _await(client, processes)
        task = progress.add_task("soaking, seconds", total=seconds + 2.0 * REST_S)
        robot = _Robot(client, processes, lambda passed_s: progress.advance(task, passed_s))
        for _ in range(RESTARTS):
            robot.work(warm_s * RESTARTS_SHARE / RESTARTS)
            processes.kill("memory")
            processes.start(["memory"], parameters)
            _await(client, processes)
        robot.work(warm_s - robot.worked_s)
        before = robot.rest()
        robot.work(seconds - robot.worked_s)
        return robot.instructions, before, robot.rest()


class _Robot:
    """The demo's robot at work and at rest.

    advance: told how many seconds more have passed. instructions: how many were given and came to an end. worked_s:
    how long it has worked.
    """

    def __init__(self, client: Any, processes: NodeProcesses, advance: Callable[[float], object]) -> None:
        self._client = client
        self._processes = processes
        self._advance = advance
        self._given = 0
        self.instructions = 0
        self.worked_s = 0.0

    def work(self, seconds: float) -> None:
        """Carry out instructions for so long; the last one is finished."""
        end_s = self.worked_s + seconds
        while self.worked_s < end_s:
            begun_s = time.monotonic()
            self.instructions += _give(self._client, INSTRUCTIONS[self._given % len(INSTRUCTIONS)])
            self._processes.check()
            self._given += 1
            if self._given % _MAP_EVERY == 0:
                _change_map(self._client, grown=self._given // _MAP_EVERY % 2 == 0)
            self._pass(time.monotonic() - begun_s)

    def rest(self) -> Use:
        """Do nothing for a while; return the least that each process takes meanwhile."""
        uses = []
        for _ in range(round(REST_S / _LOOK_EVERY_S)):
            time.sleep(_LOOK_EVERY_S)
            uses.append(Use.of(self._processes))
        self._processes.check()
        self._advance(REST_S)
        return Use.least(uses)

    def _pass(self, seconds: float) -> None:
        self.worked_s += seconds
        self._advance(seconds)


def _await(client: Any, processes: NodeProcesses) -> None:
    """Wait until all is ready; a request to a memory that was killed is lost, and asked again."""
    from memory_node.nodes.service_clients import PeerTimeoutError

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
        client.run(instruction, "full+experience", lambda feedback: None, _INSTRUCTION_LIMIT_S)
    except RobotMemoryError as error:
        print(f"{instruction!r}: {error}", file=sys.stderr)
        # On a busy machine a planner that was silent for too long is still ending its goal, and refuses the next.
        time.sleep(_AFTER_ERROR_S)
        return False
    return True

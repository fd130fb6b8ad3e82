"""The demo's own node: sends instructions, listens to their progress and follows the robot's path."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from typing import Any

from nav_msgs.msg import OccupancyGrid, Odometry
from robot_memory.action import ExecuteInstruction

from memory_node.domain.errors import RobotMemoryError
from memory_node.domain.scene import SceneSnapshot
from memory_node.nodes import conversions
from memory_node.nodes.connected_memory import InstructionClient, joined
from memory_node.nodes.goal_client import GoalStoppedError
from memory_node.nodes.memory_client import MemoryClient
from memory_node.nodes.qos import LATCHED
from memory_node.nodes.service_clients import PeerTimeoutError
from memory_node.scene_graph.free_space import OccupancyMap

_PATH_STEP_M = 0.05


class DemoClient:
    """A context manager; its node spins in a thread of its own until it is closed."""

    def __init__(self, domain_id: int) -> None:
        self._stamp_ns = 0
        self.path: list[tuple[float, float]] = []
        self.grid: OccupancyMap | None = None
        self._open = contextlib.ExitStack()
        node = self._open.enter_context(joined("demo", domain_id))
        self._instructions = self._open.enter_context(contextlib.closing(InstructionClient(node)))
        self._memory = MemoryClient(node, timeout_s=30.0)
        node.create_subscription(Odometry, "odom", self._on_odometry, 10)
        node.create_subscription(OccupancyGrid, "map", self._on_map, LATCHED)
        self._maps = node.create_publisher(OccupancyGrid, "map", LATCHED)

    def __enter__(self) -> DemoClient:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def wait_ready(self, timeout_s: float, check: Callable[[], None]) -> None:
        """Wait until planner and memory answer and memory has the map; `check` raises when one of them has died.

        Raises:
            RobotMemoryError: they do not answer in time.
        """
        waited_s = 0.0
        while not self._is_ready():
            check()
            waited_s += 0.5
            if waited_s > timeout_s:
                raise RobotMemoryError(f"planner and memory do not answer after {timeout_s:g} s; see their logs")

    def _is_ready(self) -> bool:
        try:
            self._instructions.wait_for_server(0.5)
            self._memory.wait(0.5)
        except (GoalStoppedError, PeerTimeoutError):
            return False
        if self.scene().areas:
            return True
        time.sleep(0.5)
        return False

    def run(
        self, instruction: str, memory: str, on_feedback: Callable[[Any], None], timeout_s: float
    ) -> ExecuteInstruction.Result:
        """Send one instruction and return its result; one that takes too long is canceled, and not carried out.

        Raises:
            GoalStoppedError: the planner refuses it, is gone, or does not say how far it came.
        """
        return self._instructions.run(instruction, memory, on_feedback, timeout_s)

    def scene(self) -> SceneSnapshot:
        """Return what the memory node remembers."""
        return self._memory.scene()

    def publish_map(self, grid: OccupancyMap) -> None:
        """Publish a map instead of the home's own, stamped with the home's time."""
        self._maps.publish(conversions.grid_to_msg(grid, self._stamp_ns))

    def _on_odometry(self, msg: Odometry) -> None:
        self._stamp_ns = conversions.stamp_from_msg(msg.header.stamp)
        x, y, _ = conversions.point_from_msg(msg.pose.pose.position)
        if not self.path or abs(x - self.path[-1][0]) + abs(y - self.path[-1][1]) > _PATH_STEP_M:
            self.path.append((x, y))

    def _on_map(self, msg: OccupancyGrid) -> None:
        self.grid = conversions.grid_from_msg(msg)

"""What others than our planner let the robot do becomes an episode of memory, and its way is learnt."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.node import Node
from std_msgs.msg import String

from memory_node.domain.errors import RobotMemoryError
from memory_node.domain.skill import SkillResult
from memory_node.domain.step import StepRecord
from memory_node.nodes.experience_client import ExperienceClient
from memory_node.nodes.memory_client import MemoryClient
from memory_node.world.skills import with_declared_states

# What is shown, in words; "" when it is done.
_TOPIC = "execute_skill/demonstration"
_CHECK_S = 1.0
_CLOSE_S = 0.1


@dataclass(eq=False)
class Demonstrations:
    """Records calls without an episode_id, which no planner of ours sends: teleoperation, another program.

    The first one begins an episode; it ends with an empty message on execute_skill/demonstration, with another
    instruction there, or `pause_s` after the last call, as well as that call went. Without an instruction there is an
    episode, but no way: nobody said what it is a way to.

    is_performing: whether a call is being carried out; a call that takes longer than `pause_s` is no pause.
    """

    node: Node
    experience: ExperienceClient
    memory: MemoryClient
    now_ns: Callable[[], int]
    pause_s: float
    is_performing: Callable[[], bool]

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._episode_id, self._steps, self._went_well, self._last_s = "", 0, False, 0.0
        group = MutuallyExclusiveCallbackGroup()  # both wait for memory: nothing else of the node may wait with them
        self._told = self.node.create_subscription(String, _TOPIC, self._on_instruction, 10, callback_group=group)
        self._timer = self.node.create_timer(_CHECK_S, self._end_after_pause, callback_group=group)

    def close(self) -> None:
        """End what is shown; a node that ends is spun no more, and so gets no answer."""
        self.node.destroy_subscription(self._told)
        self.node.destroy_timer(self._timer)
        if self._lock.acquire(timeout=_CLOSE_S):  # a call that memory lets wait may hold it
            self._end(waits=False)
            self._lock.release()

    def note(self, result: SkillResult) -> None:
        """Take over a call that has ended, and what it changed; nothing without a memory node. What memory does not
        take is logged: the robot has done the call all the same."""
        with self._lock:
            if not self.experience.is_there:
                return
            if not self._episode_id:
                self._begin("")
            self._remember(result)
            step = StepRecord.of(result, self._episode_id, self._steps, self.now_ns(), result.call)
            self.experience.record(step)
            self._steps, self._went_well, self._last_s = self._steps + 1, result.success, time.monotonic()

    def _remember(self, result: SkillResult) -> None:
        try:
            if result.changes:
                self.memory.remember(with_declared_states(result))
        except RobotMemoryError as error:
            self.node.get_logger().warning(f"{result.call}: its changes are not remembered: {error}")

    def _on_instruction(self, message: Any) -> None:
        with self._lock:
            self._end()
            if message.data.strip() and self.experience.is_there:
                self._begin(message.data.strip())

    def _begin(self, instruction: str) -> None:
        self._episode_id = self.experience.start(instruction)
        self._steps, self._went_well, self._last_s = 0, False, time.monotonic()

    def _end(self, waits: bool = True) -> None:
        if self._episode_id:
            self.experience.end(self._episode_id, self._went_well if self._steps else None, waits=waits)
        self._episode_id = ""

    def _end_after_pause(self) -> None:
        with self._lock:
            if not self.is_performing() and time.monotonic() - self._last_s >= self.pause_s:
                self._end()

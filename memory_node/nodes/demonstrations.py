"""What others than our planner let the robot do is published step by step, for memory and for bags."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from rclpy.node import Node
from robot_memory import msg as rm
from std_msgs.msg import String

from memory_node.domain.ids import new_id
from memory_node.domain.skill import SkillResult
from memory_node.domain.step import DemonstratedStep, StepRecord
from memory_node.nodes import conversions
from memory_node.world.skills import with_declared_states

# What is shown, in words; "" when it is done.
_INSTRUCTION = "execute_skill/demonstration"
# Its steps.
DEMONSTRATED = "execute_skill/demonstrated"
_CHECK_S = 1.0
# Steps that wait for a memory node which is busy.
STEPS_KEPT = 100


@dataclass(eq=False)
class Demonstrations:
    """Publishes calls without an episode_id, which no planner of ours sends: teleoperation, another program.

    The first one begins a demonstration; it ends with an empty message on execute_skill/demonstration, with another
    instruction there, or `pause_s` after the last call, as well as that call went. Without an instruction there is an
    episode, but no way: nobody said what it is a way to.

    is_performing: whether a call is being carried out; a call that takes longer than `pause_s` is no pause.
    """

    node: Node
    now_ns: Callable[[], int]
    pause_s: float
    is_performing: Callable[[], bool]

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._instruction, self._last_s = "", 0.0
        self._last: DemonstratedStep | None = None
        self._publisher = self.node.create_publisher(rm.DemonstratedStep, DEMONSTRATED, STEPS_KEPT)
        self._told = self.node.create_subscription(String, _INSTRUCTION, self._on_instruction, 10)
        self._timer = self.node.create_timer(_CHECK_S, self._end_after_pause)

    def close(self) -> None:
        """End what is shown."""
        self.node.destroy_subscription(self._told)
        self.node.destroy_timer(self._timer)
        with self._lock:
            self._end()

    def note(self, result: SkillResult) -> None:
        """Publish a call that has ended, and what it changed."""
        with self._lock:
            before = self._last.step if self._last is not None else None
            episode_id, index = (before.episode_id, before.index + 1) if before is not None else (new_id(), 0)
            step = StepRecord.of(result, episode_id, index, self.now_ns(), result.call)
            self._last, self._last_s = DemonstratedStep(self._instruction, step), time.monotonic()
            self._publish(replace(self._last, changes=with_declared_states(result)))

    def _on_instruction(self, message: Any) -> None:
        with self._lock:
            self._end()
            self._instruction, self._last_s = message.data.strip(), time.monotonic()

    def _end(self) -> None:
        if self._last is not None:
            self._publish(replace(self._last, has_ended=True))
        self._instruction, self._last = "", None

    def _end_after_pause(self) -> None:
        with self._lock:
            if not self.is_performing() and time.monotonic() - self._last_s >= self.pause_s:
                self._end()

    def _publish(self, shown: DemonstratedStep) -> None:
        self._publisher.publish(conversions.demonstrated_to_msg(shown))

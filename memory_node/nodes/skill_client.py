"""The robot as a planner node sees it: `SkillPort` over the ExecuteSkill action."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from action_msgs.msg import GoalStatus
from rclpy.action import ActionClient
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node
from robot_memory.action import ExecuteSkill

from memory_node.domain.skill import FailureReason, SkillCall, SkillResult
from memory_node.nodes import conversions
from memory_node.nodes.waiting import PeerTimeoutError, result_of


class SkillClient:
    """`SkillPort` over the ExecuteSkill action; a robot that does not answer is a failed skill, not an error.

    Args:
        node: the node that talks.
        action_name: the action to use.
        timeout_s: a skill that takes longer is cancelled and counts as failed with reason timeout.
        on_feedback: called with each ExecuteSkill feedback message.
    """

    def __init__(
        self,
        node: Node,
        action_name: str = "execute_skill",
        timeout_s: float = 300.0,
        on_feedback: Callable[[Any], None] = lambda feedback: None,
    ) -> None:
        self._name = action_name
        self._timeout_s = timeout_s
        self._on_feedback = on_feedback
        self._client = ActionClient(node, ExecuteSkill, action_name, callback_group=ReentrantCallbackGroup())
        self._running: Any = None

    def wait(self, timeout_s: float) -> None:
        """Wait until a robot offers the action.

        Raises:
            PeerTimeoutError: none does within `timeout_s`.
        """
        if not self._client.wait_for_server(timeout_sec=timeout_s):
            raise PeerTimeoutError(f"no robot offers the action {self._name} after {timeout_s:g} s")

    def execute(self, call: SkillCall) -> SkillResult:
        """Run one skill on the robot to its end."""
        goal = ExecuteSkill.Goal(call=conversions.call_to_msg(call))
        try:
            self.wait(10.0)
            handle = result_of(
                self._client.send_goal_async(goal, feedback_callback=lambda msg: self._on_feedback(msg.feedback)),
                10.0,
                self._name,
            )
        except PeerTimeoutError as error:
            return SkillResult(call, False, FailureReason.TIMEOUT, str(error))
        if not handle.accepted:
            return SkillResult(call, False, FailureReason.INVALID_CALL, "the robot did not accept the skill")
        self._running = handle
        try:
            response = result_of(handle.get_result_async(), self._timeout_s, self._name)
        except PeerTimeoutError as error:
            handle.cancel_goal_async()
            return SkillResult(call, False, FailureReason.TIMEOUT, str(error))
        finally:
            self._running = None
        result = conversions.skill_result_from_msg(call, response.result)
        if response.status == GoalStatus.STATUS_CANCELED:
            # What it had changed by then, a grasp perhaps, is told all the same.
            return replace(result, success=False, reason=FailureReason.CANCELED, message="cancelled")
        return result

    def cancel(self) -> None:
        """Cancel the running skill, if there is one; the robot stops safely and the skill ends as cancelled."""
        if self._running is not None:
            self._running.cancel_goal_async()

"""The robot as a planner node sees it: `SkillPort` over the ExecuteSkill action."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from action_msgs.msg import GoalStatus
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node
from robot_memory import msg as rm
from robot_memory.action import ExecuteSkill

from memory_node.domain.skill import FailureReason, SkillCall, SkillResult
from memory_node.domain.skill_library import SKILLS
from memory_node.nodes import conversions
from memory_node.nodes.goal_client import Cause, GoalClient, GoalStoppedError
from memory_node.nodes.qos import LATCHED
from memory_node.nodes.running_goals import RunningGoals
from memory_node.nodes.skill_server import AVAILABLE
from memory_node.nodes.waiting import PeerTimeoutError

# A robot whose skills node died is not sent more: nobody knows what its hand holds.
_REASONS = {
    Cause.REFUSED: FailureReason.INVALID_CALL,
    Cause.CANCELED: FailureReason.CANCELED,
    Cause.SERVER_GONE: FailureReason.CANCELED,
}


class SkillClient:
    """`SkillPort` over the ExecuteSkill action; a robot that does not answer is a failed skill, not an error.

    Args:
        node: the node that talks.
        running: what is running, here and elsewhere.
        action_name: the action to use.
        timeout_s: a skill that takes longer is cancelled and counts as failed with reason timeout.
        on_feedback: called with each ExecuteSkill feedback message.
        episode_id: of the episode that the caller records; "" for none: the robot may record it as a demonstration.
    """

    def __init__(
        self,
        node: Node,
        running: RunningGoals,
        action_name: str = "execute_skill",
        timeout_s: float = 300.0,
        on_feedback: Callable[[Any], None] = lambda feedback: None,
        episode_id: Callable[[], str] = lambda: "",
    ) -> None:
        self._timeout_s = timeout_s
        self._on_feedback, self._episode_id = on_feedback, episode_id
        self._client = GoalClient(node, ExecuteSkill, action_name, running)
        self.held_object = ""
        self._available: frozenset[str] | None = None
        topic = AVAILABLE.format(action_name)
        node.create_subscription(
            rm.AvailableSkills, topic, self._on_available, LATCHED, callback_group=ReentrantCallbackGroup()
        )
        self.is_canceled: Callable[[], bool] = lambda: False

    @property
    def skills(self) -> frozenset[str]:
        """The skills that the robot does; all of the library where it has not said."""
        return frozenset(SKILLS) if self._available is None else self._available

    @property
    def is_there(self) -> bool:
        """Whether a robot offers the action now."""
        return self._client.is_served

    def _on_available(self, message: rm.AvailableSkills) -> None:
        self._available = frozenset(message.skills)

    def wait(self, timeout_s: float) -> None:
        """Wait until a robot offers the action.

        Raises:
            PeerTimeoutError: none does within `timeout_s`, or `is_canceled` became true.
        """
        try:
            self._client.wait_for_server(timeout_s, self.is_canceled)
        except GoalStoppedError as error:
            raise PeerTimeoutError(str(error)) from error

    def execute(self, call: SkillCall) -> SkillResult:
        """Run one skill on the robot to its end; once `is_canceled` is true it is stopped and ends as canceled."""
        goal = ExecuteSkill.Goal(call=conversions.call_to_msg(call), episode_id=self._episode_id())
        try:
            response = self._client.run(goal, self._timeout_s, self.is_canceled, self._on_feedback)
        except GoalStoppedError as error:
            if error.response is None or error.cause is not Cause.CANCELED:
                return SkillResult(call, False, _REASONS.get(error.cause, FailureReason.TIMEOUT), str(error))
            response = error.response
        self.held_object = response.result.held_object
        result = conversions.skill_result_from_msg(call, response.result)
        if response.status == GoalStatus.STATUS_CANCELED and result.reason is not FailureReason.CANCELED:
            # What it had changed by then, a grasp perhaps, is told all the same.
            return replace(result, success=False, reason=FailureReason.CANCELED, message="canceled")
        return result

"""The base, through Nav2's NavigateToPose."""

from __future__ import annotations

from typing import Any

from action_msgs.msg import GoalStatus
from geometry_msgs.msg import PoseStamped
from nav2_msgs.action import NavigateToPose
from rclpy.node import Node

from memory_node.domain.geometry import Pose
from memory_node.domain.skill import FailureReason, SkillFailure
from memory_node.nodes import conversions
from memory_node.nodes.running_goals import RunningGoals
from memory_node.nodes.skill_bridge.action_call import ActionCall
from memory_node.nodes.skill_bridge.config import SkillsParameters
from memory_node.nodes.skill_bridge.outcome import SkillRun

# Error codes of nav2_msgs/FollowPath: the way was there, following it failed.
_CONTROL_CODES = range(100, 200)


class NavigationBase:
    """Drives to poses in map; one drive at a time."""

    def __init__(self, node: Node, config: SkillsParameters, running: RunningGoals) -> None:
        self._node = node
        self._config = config
        self._call = ActionCall(node, NavigateToPose, config.base.action, "base.action", config.deadlines_s, running)

    def drive(self, goal: Pose, run: SkillRun) -> None:
        """Drive to a pose; feedback goes to the run.

        Raises:
            SkillFailure: UNREACHABLE, EXECUTION, TIMEOUT or CANCELED.
        """
        stamp_ns = self._node.get_clock().now().nanoseconds
        header = conversions.header(stamp_ns, self._config.map_frame)
        request = NavigateToPose.Goal(pose=PoseStamped(header=header, pose=conversions.pose_to_msg(goal)))
        whole_m = 0.0

        def follow(feedback: Any) -> None:
            nonlocal whole_m
            left_m = float(feedback.distance_remaining)
            whole_m = max(whole_m, left_m)
            run.moved_to(conversions.pose_from_msg(feedback.current_pose.pose))
            run.report("navigating", 1.0 - left_m / whole_m if whole_m > 0.0 else 0.0)

        base = self._config.base
        response = self._call.run(request, run, base.timeout_s, follow, base.silence_s)
        if response.status == GoalStatus.STATUS_SUCCEEDED:
            run.moved_to(goal)
            return
        code, said = _told_by(response.result)
        if response.status == GoalStatus.STATUS_CANCELED or code in _CONTROL_CODES:
            raise SkillFailure(FailureReason.EXECUTION, f"Nav2 stopped on the way ({said})")
        raise SkillFailure(FailureReason.UNREACHABLE, f"Nav2 found no way to the pose ({said})")


def _told_by(result: NavigateToPose.Result) -> tuple[int | None, str]:
    """Return the error code and what to say of it; Humble's result has neither a code nor a message."""
    code = getattr(result, "error_code", None)
    if code is None:
        return None, "it gives no error code"
    text = " ".join(str(getattr(result, "error_msg", "")).split())[:200]
    return int(code), f"error code {code}{': ' if text else ''}{text}"

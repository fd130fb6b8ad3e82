"""Paths of the hand through poses, as MoveIt 2 plans them (GetCartesianPath) and runs them (ExecuteTrajectory)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from moveit_msgs.action import ExecuteTrajectory
from moveit_msgs.msg import MoveItErrorCodes
from moveit_msgs.srv import GetCartesianPath
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node

from memory_node.domain.geometry import Pose
from memory_node.domain.skill import FailureReason
from memory_node.domain.skill_outcome import SkillFailure
from memory_node.nodes import conversions
from memory_node.nodes.running_goals import RunningGoals
from memory_node.nodes.skill_bridge.action_call import ActionCall
from memory_node.nodes.skill_bridge.config import SkillsParameters
from memory_node.nodes.skill_bridge.outcome import SkillRun
from memory_node.nodes.waiting import PeerTimeoutError, answer_of

# Largest step between two poses that MoveIt computes (m).
_STEP_M = 0.01


class CartesianPath:
    """Plans and runs one path of the end-effector link."""

    def __init__(self, node: Node, config: SkillsParameters, running: RunningGoals) -> None:
        self._node = node
        self._config = config
        name = config.arm.cartesian_path
        self._client = node.create_client(GetCartesianPath, name, callback_group=ReentrantCallbackGroup())
        key = "expert.arm.execute_action"
        self._call = ActionCall(node, ExecuteTrajectory, config.arm.execute_action, key, config.deadlines_s, running)

    def plan(self, poses: Sequence[Pose], run: SkillRun) -> tuple[int, Any]:
        """Return how many of the poses in `arm.frame` a path leads through, and the trajectory up to there.

        Raises:
            SkillFailure: TIMEOUT, MoveIt does not answer.
        """
        arm = self._config.arm
        request = GetCartesianPath.Request(
            group_name=arm.group,
            link_name=arm.link,
            waypoints=[conversions.pose_to_msg(pose) for pose in poses],
            max_step=_STEP_M,
            avoid_collisions=False,  # the hand is to touch what it opens
        )
        request.header = conversions.header(self._node.get_clock().now().nanoseconds, arm.frame)
        request.start_state.is_diff = True  # from where the arm is
        if hasattr(request, "max_velocity_scaling_factor"):  # not in Humble
            request.max_velocity_scaling_factor = request.max_acceleration_scaling_factor = arm.speed
        try:
            answer = answer_of(self._client, request, self._config.connect_s + arm.planning_s, lambda: run.canceled)
        except PeerTimeoutError as error:
            run.check()
            raise SkillFailure(FailureReason.TIMEOUT, f"{error} (parameter arm.cartesian_path)") from error
        reached = answer.fraction if answer.error_code.val == MoveItErrorCodes.SUCCESS else 0.0
        return int(reached * len(poses) + 1e-6), answer.solution

    def execute(self, trajectory: Any, run: SkillRun) -> bool:
        """Run a trajectory; return whether the arm came to its end.

        Raises:
            SkillFailure: TIMEOUT or CANCELED; EXECUTION, MoveIt refused it.
        """
        goal = ExecuteTrajectory.Goal(trajectory=trajectory)
        result = self._call.run(goal, run, self._config.arm.timeout_s).result
        return bool(result.error_code.val == MoveItErrorCodes.SUCCESS)

"""A gripper whose fingers are joints of a trajectory controller, as TIAGo and Stretch have: control_msgs'
FollowJointTrajectory, and joint_states for where the fingers are."""

from __future__ import annotations

import threading

from builtin_interfaces.msg import Duration
from control_msgs.action import FollowJointTrajectory
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from memory_node.domain.skill import FailureReason, SkillFailure
from memory_node.nodes.running_goals import RunningGoals
from memory_node.nodes.skill_bridge.action_call import ActionCall
from memory_node.nodes.skill_bridge.config import SkillsParameters
from memory_node.nodes.skill_bridge.outcome import SkillRun

# The goal itself was wrong. Other codes tell that the fingers did not get there: they hold something, perhaps.
_REFUSALS = frozenset(
    {
        FollowJointTrajectory.Result.INVALID_GOAL,
        FollowJointTrajectory.Result.INVALID_JOINTS,
        FollowJointTrajectory.Result.OLD_HEADER_TIMESTAMP,
    }
)
# How far short of open the fingers may stay, as a share of the way from closed to open.
_OPEN_SHARE = 0.2
# joint_states come many times a second.
_STATE_S = 1.0


class TrajectoryGripper:
    """Opens and closes the joints of `gripper.joints`, each to the same position."""

    def __init__(self, node: Node, config: SkillsParameters, running: RunningGoals) -> None:
        self._config = config.gripper
        self._joints = config.gripper.joints.split()
        self._call = ActionCall(
            node, FollowJointTrajectory, config.gripper.action, "gripper.action", config.deadlines_s, running
        )
        self._position = 0.0
        self._came = threading.Event()
        node.create_subscription(
            JointState,
            "joint_states",
            self._on_state,
            qos_profile_sensor_data,
            callback_group=MutuallyExclusiveCallbackGroup(),
        )

    def open(self, run: SkillRun) -> None:
        """Open; fingers that stall on the way fail with EXECUTION."""
        config = self._config
        position = self._move(config.open_position, run)
        if abs(position - config.open_position) > _OPEN_SHARE * abs(config.open_position - config.closed_position):
            raise SkillFailure(FailureReason.EXECUTION, f"the gripper stalled at {position:.3f} while opening")

    def close(self, run: SkillRun) -> bool:
        """Close; return whether something is between the fingers."""
        position = self._move(self._config.closed_position, run)
        return abs(position - self._config.closed_position) > self._config.empty_margin

    def _move(self, position: float, run: SkillRun) -> float:
        """Move the fingers; return where they are then.

        Raises:
            SkillFailure: EXECUTION, the controller takes no such goal; TIMEOUT or CANCELED; TIMEOUT, too, where nobody
                tells where the fingers are.
        """
        whole_s = int(self._config.motion_s)
        duration = Duration(sec=whole_s, nanosec=int((self._config.motion_s - whole_s) * 1e9))
        point = JointTrajectoryPoint(positions=[position] * len(self._joints), time_from_start=duration)
        goal = FollowJointTrajectory.Goal(trajectory=JointTrajectory(joint_names=self._joints, points=[point]))
        result = self._call.run(goal, run, self._config.timeout_s).result
        if result.error_code in _REFUSALS:
            told = f"{self._config.action} took no motion of {', '.join(self._joints)} (parameter gripper.joints)"
            raise SkillFailure(FailureReason.EXECUTION, f"{told}: {result.error_string or result.error_code}")
        self._came.clear()
        if not self._came.wait(_STATE_S):
            told = f"joint_states tell nothing of {', '.join(self._joints)} (parameter gripper.joints)"
            raise SkillFailure(FailureReason.TIMEOUT, told)
        return self._position

    def _on_state(self, msg: JointState) -> None:
        positions = dict(zip(msg.name, msg.position))
        if all(joint in positions for joint in self._joints):
            self._position = sum(positions[joint] for joint in self._joints) / len(self._joints)
            self._came.set()

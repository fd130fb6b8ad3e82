"""The arm, through MoveIt 2's MoveGroup, and the gripper, by GripperCommand or by FollowJointTrajectory."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from builtin_interfaces.msg import Duration
from control_msgs.action import FollowJointTrajectory, GripperCommand
from moveit_msgs.action import ExecuteTrajectory, MoveGroup
from moveit_msgs.msg import Constraints, JointConstraint, MoveItErrorCodes, OrientationConstraint, PositionConstraint
from moveit_msgs.srv import GetCartesianPath
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup, ReentrantCallbackGroup
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState
from shape_msgs.msg import SolidPrimitive
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from memory_node.domain.geometry import Pose
from memory_node.domain.skill import FailureReason, SkillFailure
from memory_node.nodes import conversions
from memory_node.nodes.running_goals import RunningGoals
from memory_node.nodes.service_clients import PeerTimeoutError, answer_of
from memory_node.nodes.skill_bridge.base import Surroundings
from memory_node.nodes.skill_bridge.config import ArmParameters, SkillsParameters
from memory_node.nodes.skill_bridge.outcome import ActionCall, SkillRun

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


# How often a stopped arm plans anew while it folds.
REPLANS = 2
# The arm cannot get there; another grasp may do.
_UNREACHABLE = frozenset(
    {
        MoveItErrorCodes.PLANNING_FAILED,
        MoveItErrorCodes.INVALID_MOTION_PLAN,
        MoveItErrorCodes.GOAL_IN_COLLISION,
        MoveItErrorCodes.GOAL_VIOLATES_PATH_CONSTRAINTS,
        MoveItErrorCodes.GOAL_CONSTRAINTS_VIOLATED,
        MoveItErrorCodes.NO_IK_SOLUTION,
    }
)


class MoveGroupArm:
    """Brings the end-effector link to poses."""

    def __init__(self, node: Node, config: SkillsParameters, surroundings: Surroundings, running: RunningGoals) -> None:
        self._node = node
        self._config = config.arm
        self._carry_joints = config.arm.carry_joints
        self._surroundings = surroundings
        self._call = ActionCall(node, MoveGroup, config.arm.action, "arm.action", config.deadlines_s, running)
        self._path = CartesianPath(node, config, running) if config.arm.cartesian_path else None

    def move(self, map_T_link: Pose, run: SkillRun) -> None:
        """Plan and execute a motion of the link to a pose in map.

        Raises:
            SkillFailure: UNREACHABLE, EXECUTION, TIMEOUT or CANCELED.
        """
        stamp_ns = self._node.get_clock().now().nanoseconds
        # In the arm's own frame, because the error of the base's pose does not change during a motion.
        goal = move_goal(self._surroundings.map_in_arm_frame() @ map_T_link, self._config, stamp_ns)
        self._execute(goal, run)

    @property
    def follows_paths(self) -> bool:
        """Whether `follow` can be used: the robot has MoveIt's service for it."""
        return self._path is not None

    def follow(self, poses: Sequence[Pose], run: SkillRun) -> tuple[int, FailureReason]:
        """Bring the link through poses in map by one Cartesian path; return how many it reached, and what stopped it:
        NONE, UNREACHABLE (there is no way on), EXECUTION (it met something).

        Raises:
            SkillFailure: TIMEOUT or CANCELED; EXECUTION, MoveIt refused the path.
        """
        assert self._path is not None
        arm_T_map = self._surroundings.map_in_arm_frame()
        count, trajectory = self._path.plan([arm_T_map @ pose for pose in poses], run)
        if count == 0:
            return 0, FailureReason.UNREACHABLE
        if not self._path.execute(trajectory, run):
            reached = self._surroundings.link_in_map().position
            distances = [float(np.linalg.norm(pose.position - reached)) for pose in poses[:count]]
            return int(np.argmin(distances)), FailureReason.EXECUTION
        return count, FailureReason.NONE if count == len(poses) else FailureReason.UNREACHABLE

    def carry(self, run: SkillRun) -> None:
        """Fold the arm for driving; raises like `move`."""
        if self._carry_joints:
            self._execute(carry_goal(self._carry_joints, self._config), run)

    def _execute(self, goal: MoveGroup.Goal, run: SkillRun) -> None:
        result = self._call.run(goal, run, self._config.timeout_s).result
        code = int(result.error_code.val)
        if code == MoveItErrorCodes.SUCCESS:
            return
        reason = FailureReason.EXECUTION
        if code in _UNREACHABLE:
            reason = FailureReason.UNREACHABLE
        elif code == MoveItErrorCodes.TIMED_OUT:
            reason = FailureReason.TIMEOUT
        raise SkillFailure(reason, f"MoveIt ended with error code {code}")


def move_goal(pose: Pose, config: ArmParameters, stamp_ns: int) -> MoveGroup.Goal:
    """Return the goal that brings the configured link to a pose in config.frame, within the tolerances."""
    header = conversions.header(stamp_ns, config.frame)
    position = PositionConstraint(header=header, link_name=config.link, weight=1.0)
    sphere = SolidPrimitive(type=SolidPrimitive.SPHERE, dimensions=[config.position_tolerance_m])
    position.constraint_region.primitives = [sphere]
    position.constraint_region.primitive_poses = [conversions.pose_to_msg(Pose(pose.position))]
    tolerance = config.orientation_tolerance_rad
    orientation = OrientationConstraint(
        header=header,
        link_name=config.link,
        orientation=conversions.pose_to_msg(pose).orientation,
        absolute_x_axis_tolerance=tolerance,
        absolute_y_axis_tolerance=tolerance,
        absolute_z_axis_tolerance=tolerance,
        weight=1.0,
    )
    return _goal(Constraints(position_constraints=[position], orientation_constraints=[orientation]), config)


def carry_goal(joints: Mapping[str, float], config: ArmParameters) -> MoveGroup.Goal:
    """Return the goal that brings joints to their values, by name."""
    tolerance = config.orientation_tolerance_rad
    constraints = [
        JointConstraint(
            joint_name=name, position=value, tolerance_above=tolerance, tolerance_below=tolerance, weight=1.0
        )
        for name, value in joints.items()
    ]
    goal = _goal(Constraints(joint_constraints=constraints), config)
    # Folding has no aim but to get away: an arm that is stopped plans anew from where it is.
    goal.planning_options.replan, goal.planning_options.replan_attempts = True, REPLANS
    return goal


def _goal(constraints: Constraints, config: ArmParameters) -> MoveGroup.Goal:
    goal = MoveGroup.Goal()
    request = goal.request
    request.group_name = config.group
    request.num_planning_attempts = config.planning_attempts
    request.allowed_planning_time = config.planning_s
    request.max_velocity_scaling_factor = request.max_acceleration_scaling_factor = config.speed
    request.start_state.is_diff = True  # from where the arm is
    request.goal_constraints = [constraints]
    goal.planning_options.planning_scene_diff.is_diff = True
    goal.planning_options.planning_scene_diff.robot_state.is_diff = True
    return goal


class ActionGripper(ABC):
    """Opens and closes the gripper by an action."""

    def __init__(self, node: Node, config: SkillsParameters, running: RunningGoals, action_type: Any) -> None:
        self._config = config.gripper
        name = config.gripper.action
        self._call = ActionCall(node, action_type, name, "gripper.action", config.deadlines_s, running)

    def open(self, run: SkillRun) -> None:
        """Open; fingers that stall on the way fail with EXECUTION."""
        position, reached = self._move(self._config.open_position, run)
        if not reached:
            raise SkillFailure(FailureReason.EXECUTION, f"the gripper stalled at {position:.3f} while opening")

    def close(self, run: SkillRun) -> bool:
        """Close; return whether something is between the fingers."""
        # Some controllers abort a goal that stalls: what counts is where the fingers stopped.
        position, _ = self._move(self._config.closed_position, run)
        return abs(position - self._config.closed_position) > self._config.empty_margin

    @abstractmethod
    def _move(self, position: float, run: SkillRun) -> tuple[float, bool]:
        """Move the fingers; return where they are then, and whether that is where they were to go.

        Raises:
            SkillFailure: EXECUTION, the controller takes no such goal; TIMEOUT or CANCELED; TIMEOUT, too, where nobody
                tells where the fingers are.
        """


class CommandGripper(ActionGripper):
    """A gripper of GripperCommand."""

    def __init__(self, node: Node, config: SkillsParameters, running: RunningGoals) -> None:
        super().__init__(node, config, running, GripperCommand)

    def _move(self, position: float, run: SkillRun) -> tuple[float, bool]:
        goal = GripperCommand.Goal()
        goal.command.position, goal.command.max_effort = position, self._config.max_effort
        result = self._call.run(goal, run, self._config.timeout_s).result
        return float(result.position), result.reached_goal and not result.stalled


# The goal itself was wrong. Other codes tell that the fingers did not get there: they hold something, perhaps.
_REFUSALS = frozenset(
    {
        FollowJointTrajectory.Result.INVALID_GOAL,
        FollowJointTrajectory.Result.INVALID_JOINTS,
        FollowJointTrajectory.Result.OLD_HEADER_TIMESTAMP,
    }
)
# How far short of their goal the fingers may stay, as a share of the way from closed to open.
_OPEN_SHARE = 0.2
# joint_states come many times a second.
_STATE_S = 1.0


class TrajectoryGripper(ActionGripper):
    """A gripper of FollowJointTrajectory: the joints of `gripper.joints`, each at the same position."""

    def __init__(self, node: Node, config: SkillsParameters, running: RunningGoals) -> None:
        super().__init__(node, config, running, FollowJointTrajectory)
        self._joints = config.gripper.joints.split()
        self._position = 0.0
        self._came = threading.Event()
        node.create_subscription(
            JointState,
            "joint_states",
            self._on_state,
            qos_profile_sensor_data,
            callback_group=MutuallyExclusiveCallbackGroup(),
        )

    def _move(self, position: float, run: SkillRun) -> tuple[float, bool]:
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
        whole_way = abs(self._config.open_position - self._config.closed_position)
        return self._position, abs(self._position - position) <= _OPEN_SHARE * whole_way

    def _on_state(self, msg: JointState) -> None:
        positions = dict(zip(msg.name, msg.position))
        if all(joint in positions for joint in self._joints):
            self._position = sum(positions[joint] for joint in self._joints) / len(self._joints)
            self._came.set()

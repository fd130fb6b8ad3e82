"""The actions of the simulated body, as Nav2, MoveIt 2 and a gripper controller offer them."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from control_msgs.action import GripperCommand
from geometry_msgs.msg import PoseStamped
from moveit_msgs.action import MoveGroup
from moveit_msgs.msg import Constraints, MoveItErrorCodes
from nav2_msgs.action import NavigateToPose
from rclpy.node import Node

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.geometry import Pose
from memory_node.nodes import conversions
from memory_node.nodes.goal_server import Ending, GoalServer, GoalState, ServedGoal
from memory_node.nodes.running_goals import RunningGoals
from memory_node.sim.physics.model import ARM_JOINTS
from memory_node.sim.physics.motions import ArmMotion, End, Motion
from memory_node.sim.physics.robot import BodyRobot

BASE_FRAME, TOOL_FRAME, MAP_FRAME = "base_link", "tool_link", "map"
# Nav2's own: ComputePathToPose NO_VALID_PATH, FollowPath FAILED_TO_MAKE_PROGRESS.
NO_WAY, NO_PROGRESS = 208, 105
_FAILED = MoveItErrorCodes.FAILURE
_POLL_S = 0.02
_FEEDBACK_S = 0.25
_FASTEST_SCALE = 1.0


def offer_body_actions(node: Node, robot: BodyRobot, running: RunningGoals) -> None:
    """Offer the actions; each runs one goal at a time. Someone else ticks the robot."""
    actions, gripper = _BodyActions(robot), "gripper_controller/gripper_cmd"
    GoalServer(node, NavigateToPose, "navigate_to_pose", running, actions.navigate, lambda _: _nav_result(NO_PROGRESS))
    GoalServer(node, MoveGroup, "move_action", running, actions.move_arm, lambda _: _arm_result(_FAILED))
    GoalServer(node, GripperCommand, gripper, running, actions.grip, lambda _: _no_grip())


class _BodyActions:
    """What each action does."""

    def __init__(self, robot: BodyRobot) -> None:
        self._robot = robot

    def navigate(self, goal: ServedGoal) -> Ending:
        stamped = goal.request.pose
        if stamped.header.frame_id != MAP_FRAME:
            return Ending(_nav_result(NO_WAY), GoalState.ABORTED)
        drive = self._robot.drive(conversions.pose_from_msg(stamped.pose))
        if drive is None:
            return Ending(_nav_result(NO_WAY), GoalState.ABORTED)
        told_s = 0.0
        while drive.ended is None:
            if goal.is_canceled:
                drive.cancel()
            if time.monotonic() - told_s > _FEEDBACK_S:
                told_s = time.monotonic()
                goal.publish_feedback(self._nav_feedback(drive.left_m))
            time.sleep(_POLL_S)
        if drive.ended.end is End.DONE:
            return Ending(NavigateToPose.Result(), GoalState.SUCCEEDED)
        if drive.ended.end is End.CANCELED:
            return Ending(NavigateToPose.Result(), GoalState.CANCELED)
        return Ending(_nav_result(NO_PROGRESS), GoalState.ABORTED)

    def _nav_feedback(self, left_m: float) -> NavigateToPose.Feedback:
        pose = conversions.pose_to_msg(self._robot.localization.map_T_base)
        header = conversions.header(self._robot.stamp_ns, MAP_FRAME)
        feedback = NavigateToPose.Feedback(distance_remaining=left_m)
        feedback.current_pose = PoseStamped(header=header, pose=pose)
        return feedback

    def move_arm(self, goal: ServedGoal) -> Ending:
        request = goal.request.request
        if len(request.goal_constraints) != 1:
            return _arm_ending(MoveItErrorCodes.INVALID_GOAL_CONSTRAINTS)
        speed = min(float(request.max_velocity_scaling_factor) or _FASTEST_SCALE, _FASTEST_SCALE)
        try:
            motion = self._plan(request.goal_constraints[0], speed)
        except InvalidValueError:
            return _arm_ending(MoveItErrorCodes.INVALID_GOAL_CONSTRAINTS)
        if motion is None:
            return _arm_ending(MoveItErrorCodes.PLANNING_FAILED)
        end = _attend(motion, goal)
        options = goal.request.planning_options
        for _ in range(int(options.replan_attempts) if options.replan else 0):
            again = self._plan(request.goal_constraints[0], speed) if end is End.BLOCKED else None
            if again is None:
                break
            end = _attend(again, goal)
        if end is End.DONE:
            return _arm_ending(MoveItErrorCodes.SUCCESS)
        return _arm_ending(MoveItErrorCodes.PREEMPTED if end is End.CANCELED else MoveItErrorCodes.CONTROL_FAILED)

    def _plan(self, constraints: Constraints, speed: float) -> ArmMotion | None:
        if constraints.joint_constraints:
            return self._robot.move_joints(self._joints(constraints), speed)
        return self._robot.move_tool(tool_goal(constraints), speed)

    def _joints(self, constraints: Constraints) -> Any:
        joints = self._robot.simulation.positions(ARM_JOINTS)
        for one in constraints.joint_constraints:
            if one.joint_name not in ARM_JOINTS:
                raise InvalidValueError(f"expected one of {', '.join(ARM_JOINTS)}, got {one.joint_name!r:.60}")
            joints[ARM_JOINTS.index(one.joint_name)] = float(one.position)
        if not np.isfinite(joints).all():
            raise InvalidValueError("expected finite joint positions")
        return joints

    def grip(self, goal: ServedGoal) -> Ending:
        command = goal.request.command
        if not np.isfinite(float(command.position)):
            return Ending(_no_grip(), GoalState.ABORTED)
        motion = self._robot.move_gripper(float(command.position), float(command.max_effort))
        end = _attend(motion, goal)
        reached = motion.reached
        result = GripperCommand.Result(position=motion.gap_m, stalled=not reached, reached_goal=reached)
        # As ros2_control's gripper controllers do where a stall counts as an end.
        return Ending(result, GoalState.CANCELED if end is End.CANCELED else GoalState.SUCCEEDED)


def tool_goal(constraints: Constraints) -> Pose:
    """Return base_T_tool of a position and an orientation constraint on the tool's link.

    Raises:
        InvalidValueError: other constraints, another link or frame.
    """
    if len(constraints.position_constraints) != 1 or len(constraints.orientation_constraints) != 1:
        raise InvalidValueError("expected one position and one orientation constraint, or joint constraints")
    position, orientation = constraints.position_constraints[0], constraints.orientation_constraints[0]
    for one in (position, orientation):
        if one.header.frame_id != BASE_FRAME or one.link_name != TOOL_FRAME:
            raise InvalidValueError(f"expected {TOOL_FRAME} in {BASE_FRAME}")
    if len(position.constraint_region.primitive_poses) != 1:
        raise InvalidValueError("expected one region for the position")
    middle = conversions.point_from_msg(position.constraint_region.primitive_poses[0].position)
    q = orientation.orientation
    return Pose(np.array(middle), np.array([q.x, q.y, q.z, q.w]))


def _attend(motion: Motion, goal: ServedGoal) -> End:
    """Wait until a motion has ended, and stop it when its goal is cancelled."""
    while motion.ended is None:
        if goal.is_canceled:
            motion.cancel()
        time.sleep(_POLL_S)
    assert motion.ended is not None
    return motion.ended.end


def _nav_result(code: int) -> NavigateToPose.Result:
    """Return a result with an error code, which Humble's has no field for."""
    result = NavigateToPose.Result()
    if hasattr(result, "error_code"):
        result.error_code = code
    return result


def _arm_result(code: int) -> MoveGroup.Result:
    return MoveGroup.Result(error_code=MoveItErrorCodes(val=code))


def _arm_ending(code: int) -> Ending:
    result = _arm_result(code)
    if code == MoveItErrorCodes.SUCCESS:
        return Ending(result, GoalState.SUCCEEDED)
    return Ending(result, GoalState.CANCELED if code == MoveItErrorCodes.PREEMPTED else GoalState.ABORTED)


def _no_grip() -> GripperCommand.Result:
    return GripperCommand.Result(stalled=True)

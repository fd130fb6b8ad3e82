"""The base: its pose by TF, what is free about it by the costmap, and its drives through Nav2's NavigateToPose."""

from __future__ import annotations

import threading
from typing import Any

from action_msgs.msg import GoalStatus
from geometry_msgs.msg import PoseStamped
from nav2_msgs.action import NavigateToPose
from nav_msgs.msg import OccupancyGrid
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.time import Time
from tf2_ros import Buffer, TransformException, TransformListener

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.geometry import Pose
from memory_node.domain.skill import FailureReason, SkillFailure
from memory_node.nodes import conversions
from memory_node.nodes.qos import LATCHED, OVERRIDABLE, own
from memory_node.nodes.running_goals import RunningGoals
from memory_node.nodes.skill_bridge.config import SkillsParameters
from memory_node.nodes.skill_bridge.outcome import ActionCall, SkillRun
from memory_node.planner.stand_off_poses import Costmap


class Surroundings:
    """The robot in its map."""

    def __init__(self, node: Node, config: SkillsParameters) -> None:
        self._node = node
        self._config = config
        self._buffer = Buffer(cache_time=Duration(seconds=10.0))
        self._listener = TransformListener(self._buffer, node, spin_thread=False)
        self._grid: Costmap | None = None
        self._arrived = threading.Event()
        group = MutuallyExclusiveCallbackGroup()
        node.create_subscription(
            OccupancyGrid,
            config.costmap_topic,
            self._on_costmap,
            own(LATCHED),
            callback_group=group,
            qos_overriding_options=OVERRIDABLE,
        )

    def robot_pose(self) -> Pose:
        """Return the newest pose of the base in map."""
        return self._transform(self._config.map_frame, self._config.base_frame)

    def catch_up(self) -> None:
        """Wait until TF tells where the base is now, for tf_timeout_s at most.

        Nav2's answer may overtake TF: by the newest pose the robot would still be on its way.
        """
        most_s, now = self._config.tf_timeout_s, self._node.get_clock().now()
        try:
            self._buffer.lookup_transform(
                self._config.map_frame, self._config.base_frame, now, Duration(seconds=most_s)
            )
        except TransformException as error:
            late = f"TF is {most_s:g} s late or more (parameter tf_timeout_s); its newest pose is taken: {error}"
            self._node.get_logger().warning(late, throttle_duration_sec=10.0)

    def map_in_arm_frame(self) -> Pose:
        """Return the newest transform from map to the frame that MoveIt gets poses in."""
        return self._transform(self._config.arm.frame, self._config.map_frame)

    def link_in_map(self) -> Pose:
        """Return the newest pose of the end-effector link in map."""
        return self._transform(self._config.map_frame, self._config.arm.link)

    def costmap(self) -> Costmap:
        """Return the newest costmap.

        Raises:
            SkillFailure: TIMEOUT, none has come.
        """
        if self._grid is None and not self._arrived.wait(self._config.tf_timeout_s):
            message = f"no costmap came on {self._config.costmap_topic} (parameter costmap_topic)"
            raise SkillFailure(FailureReason.TIMEOUT, message)
        assert self._grid is not None
        return self._grid

    def _transform(self, target: str, source: str) -> Pose:
        timeout = Duration(seconds=self._config.tf_timeout_s)
        try:
            found = self._buffer.lookup_transform(target, source, Time(), timeout)
        except TransformException as error:
            raise SkillFailure(FailureReason.EXECUTION, f"the robot's pose is unknown: {error}") from error
        return conversions.transform_from_msg(found.transform)

    def _on_costmap(self, msg: OccupancyGrid) -> None:
        try:
            grid = conversions.grid_from_msg(msg)
            if msg.header.frame_id != self._config.map_frame or abs(grid.map_T_origin.yaw_rad) > 1e-3:
                raise InvalidValueError(f"expected an unturned grid in {self._config.map_frame}")
        except InvalidValueError as error:
            self._node.get_logger().warning(f"skipped a costmap: {error}", throttle_duration_sec=10.0)
            return
        x, y, _ = grid.map_T_origin.position
        self._grid = Costmap(grid.cells, grid.resolution_m, (float(x), float(y)))
        self._arrived.set()


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

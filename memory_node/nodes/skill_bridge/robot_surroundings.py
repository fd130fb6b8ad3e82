"""Where the robot is, by TF, and what is free about it, by the costmap."""

from __future__ import annotations

import threading

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
from memory_node.nodes.skill_bridge.config import SkillsParameters
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

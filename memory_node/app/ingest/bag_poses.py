"""Odometry and pose topics as transforms, for recordings without TF."""

from __future__ import annotations

from typing import Any

from memory_node.domain.geometry import Pose
from memory_node.nodes import conversions
from memory_node.nodes.inputs.transform_history import TransformHistory


class Odometry:
    """Follows the first topic that tells poses; the frame that they are told in is the map.

    A nav_msgs/Odometry names the frame that it is the pose of. A pose without such a name is that of the camera.
    """

    def __init__(self, map_frame: str, camera_frame: str) -> None:
        self._map_frame = map_frame
        self._camera_frame = camera_frame
        self._topic = ""

    def take(self, topic: str, message: Any, transforms: TransformHistory) -> None:
        """Take in a message.

        Raises:
            InvalidValueError: it tells no pose.
        """
        if self._topic not in ("", topic):
            return
        self._topic = topic
        world = message.header.frame_id.lstrip("/")
        if transforms.knows(world):
            # TF tells where the robot is in that frame: the frame is the map.
            if not transforms.knows(self._map_frame):
                transforms.add_fixed(conversions.transform_to_msg(Pose(), self._map_frame, world, 0))
            return
        pose = message.pose
        while hasattr(pose, "pose"):
            pose = pose.pose
        child = getattr(message, "child_frame_id", "") or self._camera_frame
        stamp_ns = conversions.stamp_from_msg(message.header.stamp)
        transforms.add(conversions.transform_to_msg(conversions.pose_from_msg(pose), self._map_frame, child, stamp_ns))

"""The simulated camera's topics: colour, depth, camera_info, detections and their instance masks."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import CameraInfo, Image
from vision_msgs.msg import Detection2DArray

from memory_node.domain.geometry import Pose
from memory_node.nodes import conversions
from memory_node.sim.camera import Camera

FRAME = "camera_optical_frame"


class CameraOutput:
    """Renders and publishes one frame at a time, all of its messages with one stamp."""

    def __init__(self, node: Node, camera: Camera, map_T_camera: Callable[[], Pose]) -> None:
        self._camera = camera
        self._map_T_camera = map_T_camera
        qos = qos_profile_sensor_data
        self._color = node.create_publisher(Image, "camera/color/image_raw", qos)
        self._depth = node.create_publisher(Image, "camera/depth/image_raw", qos)
        self._info = node.create_publisher(CameraInfo, "camera/color/camera_info", qos)
        self._masks = node.create_publisher(Image, "detections/masks", 10)
        self._detections = node.create_publisher(Detection2DArray, "detections", 10)
        self._published = 0

    @property
    def published(self) -> int:
        """How many frames have been published."""
        return self._published

    def publish(self, stamp_ns: int) -> None:
        """Take a picture now and publish it."""
        picture = self._camera.capture(self._map_T_camera(), stamp_ns)
        # On the wire detection i owns the pixels i + 1.
        number = np.zeros(int(picture.instances.max()) + 1, dtype=np.uint16)
        for index, detection in enumerate(picture.detections):
            if detection.instance < len(number):
                number[detection.instance] = index + 1
        self._info.publish(conversions.intrinsics_to_msg(picture.intrinsics, stamp_ns, FRAME))
        self._color.publish(conversions.image_to_msg(picture.color, "rgb8", stamp_ns, FRAME))
        self._depth.publish(conversions.image_to_msg(picture.depth_m, "32FC1", stamp_ns, FRAME))
        self._masks.publish(conversions.image_to_msg(number[picture.instances], "16UC1", stamp_ns, FRAME))
        self._detections.publish(conversions.detections_to_msg(picture.detections, stamp_ns, FRAME))
        self._published += 1

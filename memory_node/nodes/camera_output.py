"""The simulated camera's topics: colour, depth, camera_info, detections and their instance masks."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import CameraInfo, Image
from vision_msgs.msg import Detection2DArray

from memory_node.nodes import conversions
from memory_node.sim.camera_frame import CameraFrame

FRAME = "camera_optical_frame"


class CameraOutput:
    """Publishes one picture at a time, all of its messages with one stamp."""

    def __init__(self, node: Node) -> None:
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

    def publish(self, picture: CameraFrame) -> None:
        """Publish a picture."""
        stamp_ns = picture.stamp_ns
        # On the wire detection i owns the pixels i + 1.
        number = np.zeros(int(picture.instances.max()) + 1, dtype=np.uint16)
        for index, detection in enumerate(picture.detections):
            if detection.instance < len(number):
                number[detection.instance] = index + 1
        images: tuple[tuple[Any, NDArray[Any], str], ...] = (
            (self._color, picture.color, "rgb8"),
            (self._depth, picture.depth_m, "32FC1"),
            (self._masks, number[picture.instances], "16UC1"),
        )
        self._info.publish(conversions.intrinsics_to_msg(picture.intrinsics, stamp_ns, FRAME))
        for publisher, image, encoding in images:
            publisher.publish(conversions.image_to_msg(image, encoding, stamp_ns, FRAME))
        self._detections.publish(conversions.detections_to_msg(picture.detections, stamp_ns, FRAME))
        self._published += 1

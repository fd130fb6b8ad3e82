"""The simulated camera's topics: colour, depth, camera_info, detections and their instance masks."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rclpy.node import Node
from rclpy.qos import QoSProfile
from sensor_msgs.msg import CameraInfo, Image
from vision_msgs.msg import Detection2DArray

from memory_node.nodes import conversions
from memory_node.nodes.qos import OVERRIDABLE, own
from memory_node.sim.camera import CameraFrame

FRAME = "camera_optical_frame"
# Reliable, as camera drivers' default is: an image is larger than the kernel's receive buffer, which loses parts of it
# on a busy machine. Who wants best effort gets it from the same publisher.
_QOS = QoSProfile(depth=10)


class CameraOutput:
    """Publishes one picture at a time, all of its messages with one stamp. published: how many it has."""

    def __init__(self, node: Node) -> None:
        publisher = partial(node.create_publisher, qos_overriding_options=OVERRIDABLE)
        self._color = publisher(Image, "camera/color/image_raw", own(_QOS))
        self._depth = publisher(Image, "camera/depth/image_raw", own(_QOS))
        self._info = publisher(CameraInfo, "camera/color/camera_info", own(_QOS))
        self._masks = publisher(Image, "detections/masks", own(_QOS))
        self._detections = publisher(Detection2DArray, "detections", own(_QOS))
        self.published = 0

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
        self.published += 1

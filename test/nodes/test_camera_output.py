"""The simulated camera's pictures reach whoever asks for every one of them, as those of real drivers do."""

import numpy as np
from rclpy.qos import QoSProfile
from ros_peer import CAMERA, RosPeer, wait_until
from sensor_msgs.msg import Image

from memory_node.domain.geometry import Pose
from memory_node.nodes.camera_output import CameraOutput
from memory_node.sim.camera import CameraFrame


def test_reliable_subscriber_gets_pictures(peer: RosPeer) -> None:
    size = (CAMERA.height, CAMERA.width)
    color, depth_m, nothing = np.zeros((*size, 3), np.uint8), np.ones(size, np.float32), np.zeros(size, np.uint16)
    picture = CameraFrame(1, Pose(), CAMERA, color, depth_m, nothing, ())
    came: set[str] = set()
    for topic in ("camera/color/image_raw", "camera/depth/image_raw", "detections/masks"):
        peer.node.create_subscription(Image, topic, lambda image: came.add(image.encoding), QoSProfile(depth=10))
    output = CameraOutput(peer.node)

    def shows() -> bool:
        output.publish(picture)
        return came == {"rgb8", "32FC1", "16UC1"}

    wait_until(shows)

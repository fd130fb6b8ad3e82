"""The topics that a camera's images and detections come on."""

from __future__ import annotations

from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import CompressedImage, Image
from vision_msgs.msg import Detection2DArray

from memory_node.nodes.inputs.config import CameraReliability

DEPTH, COLOR, MASKS, DETECTIONS = "camera/depth/image_raw", "camera/color/image_raw", "detections/masks", "detections"
# What comes with the images, by the parameter `detections`.
STREAMS = {"boxes": (MASKS, DETECTIONS), "rectangles": (DETECTIONS,), "labels": (MASKS,), "segment": (), "none": ()}
# The other way that images may come: (suffix that memory listens to, image_transport for the other one, its suffix).
OTHER_TRANSPORTS = (
    ("/compressed", "raw", ""),
    ("/compressedDepth", "raw", ""),
    ("image_raw", "compressed", "image_raw/compressed"),
    ("image_raw", "compressed", "image_raw/compressedDepth"),
)


def topic_of(stream: str, transport: str) -> tuple[type, str]:
    """Return type and topic of a stream; image_transport appends the transport to the topic."""
    if stream == DETECTIONS:
        return Detection2DArray, stream
    if transport == "raw" or stream == MASKS:
        return Image, stream
    return CompressedImage, f"{stream}/{'compressedDepth' if stream == DEPTH else 'compressed'}"


# While a view is at rest, so much of it waits in the middleware before it is taken (messages).
_AT_REST = 20


def profile_of(reliability: CameraReliability, depth: int) -> QoSProfile:
    """Return the quality of service of a stream; `auto` begins with best effort."""
    policy = ReliabilityPolicy.RELIABLE if reliability == "reliable" else ReliabilityPolicy.BEST_EFFORT
    return QoSProfile(depth=max(depth, _AT_REST), reliability=policy)

"""The topics that a camera's images and detections come on, and the newest image for who is slower than the camera."""

from __future__ import annotations

import threading
from typing import Any

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


class NewestImage:
    """Holds one message from a callback for a worker thread.

    Attributes:
        skipped: how many messages were replaced before anybody took them.
        ended: whether nothing will be taken any more.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._message: Any = None
        self.skipped = 0
        self.ended = False

    def put(self, message: Any) -> None:
        """Hold a message instead of the one before."""
        with self._changed:
            self.skipped += self._message is not None
            self._message = message
            self._changed.notify()

    def take(self, timeout_s: float) -> Any:
        """Return the newest message once, None where none comes in time."""
        with self._changed:
            self._changed.wait_for(lambda: self._message is not None or self.ended, timeout_s)
            message, self._message = self._message, None
            return None if self.ended else message

    def end(self) -> None:
        """Wake the waiting thread; no image is given any more."""
        with self._changed:
            self.ended = True
            self._changed.notify_all()

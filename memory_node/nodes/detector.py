"""The detector node: colour images in, Detection2DArray of an ONNX detector out."""

from __future__ import annotations

import numpy as np
from rclpy.qos import QoSProfile, qos_profile_sensor_data
from sensor_msgs.msg import Image
from vision_msgs.msg import Detection2DArray

from memory_node.domain.errors import InputSkippedError, InvalidValueError
from memory_node.nodes import conversions
from memory_node.nodes.diagnostics import Diagnosis, DiagnosticsPublisher, InputCounters
from memory_node.nodes.managed_node import ManagedNode
from memory_node.nodes.node_parameters import DetectorParameters
from memory_node.nodes.qos import OVERRIDABLE
from memory_node.perception.config import OnnxDetectorConfig
from memory_node.perception.onnx_detector import OnnxDetector


class DetectorNode(ManagedNode):
    """Detects in the newest image; images that come while it is busy are left out. Configured, the model is open."""

    def __init__(self) -> None:
        super().__init__("detector", DetectorParameters)
        self.start()

    def configure(self) -> None:
        """Open the model."""
        self._detector = _open(self.config)
        self.get_logger().info(f"{self.config.model}: detects {len(self._detector.names)} classes")

    def activate(self) -> None:
        """Detect."""
        self._counters = InputCounters()
        self._publisher = self.create_publisher(Detection2DArray, "detections", 10, qos_overriding_options=OVERRIDABLE)
        newest = QoSProfile(depth=1, reliability=qos_profile_sensor_data.reliability)
        self.create_subscription(
            Image, "camera/color/image_raw", self._on_image, newest, qos_overriding_options=OVERRIDABLE
        )
        components = {"images": lambda: Diagnosis(self._counters.values())}
        self._diagnostics = DiagnosticsPublisher(self, self.config.diagnostic_updater, components)

    def _on_image(self, msg: Image) -> None:
        try:
            found = self._detector.detect(conversions.color_from_msg(msg), None, None)
        except (InputSkippedError, InvalidValueError) as error:
            reason = error.reason if isinstance(error, InputSkippedError) else "invalid_value"
            self._counters.skipped(InputSkippedError(reason, str(error)))
            self.get_logger().warning(f"skipped an image: {error}", throttle_duration_sec=5.0)
            return
        self._counters.used("images")
        stamp_ns = conversions.stamp_from_msg(msg.header.stamp)
        self._publisher.publish(conversions.detections_to_msg(found, stamp_ns, msg.header.frame_id))


def _open(config: OnnxDetectorConfig) -> OnnxDetector:
    """Open the model and let it look at an empty image, so that a model that does not fit is told at the start.

    Raises:
        InvalidValueError: a path is not given, or the model's outputs fit no known layout.
        ResourceMissingError: there is no such file.
    """
    missing = [name for name in ("model", "class_names") if not getattr(config, name)]
    if missing:
        raise InvalidValueError(
            f"detector: set the parameter {' and '.join(missing)}, for example -p model:=/models/yolo.onnx "
            "-p class_names:=/models/names.txt"
        )
    detector = OnnxDetector(config)
    detector.detect(np.zeros((480, 640, 3), np.uint8), None, None)
    return detector

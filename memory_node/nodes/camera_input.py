"""Camera topics become frames in the map: synchronise, decode, look TF up, perceive; what is unusable is counted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from message_filters import ApproximateTimeSynchronizer, Subscriber
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.qos import QoSProfile, qos_profile_sensor_data
from rclpy.time import Time
from sensor_msgs.msg import CameraInfo, Image
from tf2_ros import Buffer, TransformException, TransformListener
from vision_msgs.msg import Detection2DArray, Detection3DArray

from memory_node.domain.errors import InputSkippedError, InvalidValueError
from memory_node.domain.geometry import Intrinsics, Pose
from memory_node.domain.observation import Frame
from memory_node.nodes import conversions
from memory_node.nodes.diagnostics import InputCounters
from memory_node.perception.detection import Detection, Detector
from memory_node.perception.pipeline import PerceptionPipeline

# Colour, depth, masks and detections of one moment may be stamped this far apart.
SLOP_S = 0.05
RESULTS_DEPTH = 10


class CameraInput:
    """Subscribes to a camera and hands on frames in the map frame.

    Args:
        node: the node that listens.
        pipeline: perception.
        detector: finds things where no detections are subscribed to; None: Detection2DArray and masks are.
        map_frame: the frame of the graph.
        tf_timeout_s: how long to wait for the camera's pose at an image's stamp.
        counters: what was used and skipped.
        on_frame: called with each frame, one at a time.
    """

    def __init__(
        self,
        node: Node,
        pipeline: PerceptionPipeline,
        detector: Detector | None,
        map_frame: str,
        tf_timeout_s: float,
        counters: InputCounters,
        on_frame: Callable[[Frame], object],
    ) -> None:
        self._node = node
        self._pipeline = pipeline
        self._detector = detector
        self._map_frame = map_frame
        self._tf_timeout = Duration(seconds=tf_timeout_s)
        self._counters = counters
        self._on_frame = on_frame
        self._intrinsics: Intrinsics | None = None
        self._buffer = Buffer(cache_time=Duration(seconds=60.0))
        self._listener = TransformListener(self._buffer, node, spin_thread=False)
        group = MutuallyExclusiveCallbackGroup()
        node.create_subscription(
            CameraInfo, "camera/color/camera_info", self._on_info, qos_profile_sensor_data, callback_group=group
        )
        node.create_subscription(Detection3DArray, "detections_3d", self._on_3d, RESULTS_DEPTH, callback_group=group)
        topics: list[tuple[type, str, QoSProfile | int]] = [
            (Image, "camera/color/image_raw", qos_profile_sensor_data),
            (Image, "camera/depth/image_raw", qos_profile_sensor_data),
        ]
        if detector is None:  # reliable: best effort loses what follows the images in one burst to a full socket
            topics += [(Image, "detections/masks", RESULTS_DEPTH), (Detection2DArray, "detections", RESULTS_DEPTH)]
        self._filters = [
            Subscriber(node, kind, topic, qos_profile=qos, callback_group=group) for kind, topic, qos in topics
        ]
        self._synchronizer = ApproximateTimeSynchronizer(self._filters, queue_size=10, slop=SLOP_S)
        self._synchronizer.registerCallback(self._on_images)

    def _on_info(self, msg: CameraInfo) -> None:
        try:
            self._intrinsics = conversions.intrinsics_from_msg(msg)
        except InvalidValueError as error:
            self._skip(InputSkippedError("camera_info", str(error)))

    def _on_images(self, color: Image, depth: Image, masks: Image | None = None, found: Any = None) -> None:
        try:
            frame = self._perceive(color, depth, masks, found)
        except InputSkippedError as error:
            self._skip(error)
        except InvalidValueError as error:
            self._skip(InputSkippedError("invalid_value", str(error)))
        else:
            self._hand_on(frame)

    def _perceive(self, color: Image, depth: Image, masks: Image | None, found: Any) -> Frame:
        if self._intrinsics is None:
            raise InputSkippedError("no_camera_info", "no usable camera_info has come yet")
        map_T_camera = self._pose_of(depth.header)
        color_rgb = conversions.color_from_msg(color)
        depth_m = conversions.depth_from_msg(depth)
        if not (depth_m > 0.0).any():
            raise InputSkippedError("depth_empty", "no pixel of the depth image has a return")
        detections: list[Detection]
        if self._detector is not None:
            labels, detections = None, self._detector.detect(color_rgb, depth_m, self._intrinsics)
        else:
            labels, detections = conversions.labels_from_msg(masks), conversions.detections_from_msg(found)
        if labels is not None and detections and not labels.any():
            raise InputSkippedError("masks_empty", f"{len(detections)} detections own no pixel")
        return self._pipeline.observe(
            conversions.stamp_from_msg(depth.header.stamp),
            map_T_camera,
            self._intrinsics,
            depth_m,
            detections,
            labels if detections else None,
            color_rgb,
        )

    def _on_3d(self, msg: Detection3DArray) -> None:
        try:
            sensor_pose = self._pose_of(msg.header)
            detections = conversions.detections_3d_from_msg(msg)
            stamp_ns = conversions.stamp_from_msg(msg.header.stamp)
            self._hand_on(self._pipeline.observe_3d(stamp_ns, sensor_pose, detections))
        except InputSkippedError as error:
            self._skip(error)
        except InvalidValueError as error:
            self._skip(InputSkippedError("invalid_value", str(error)))

    def _pose_of(self, header: Any) -> Pose:
        """Return map_T_sensor at the header's stamp; waits up to the deadline for TF to come in."""
        try:
            transform = self._buffer.lookup_transform(
                self._map_frame, header.frame_id, Time.from_msg(header.stamp), timeout=self._tf_timeout
            )
        except TransformException as error:
            raise InputSkippedError("no_transform", str(error)) from error
        return conversions.transform_from_msg(transform.transform)

    def _hand_on(self, frame: Frame) -> None:
        self._on_frame(frame)
        self._counters.used("frames")

    def _skip(self, error: InputSkippedError) -> None:
        self._counters.skipped(error)
        self._node.get_logger().warning(f"skipped an input: {error}", throttle_duration_sec=5.0)

"""The planner node's camera, by which instructions are verified."""

from __future__ import annotations

from typing import Any

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.node import Node
from rclpy.qos import QoSProfile, qos_profile_sensor_data

from memory_node.domain.errors import InputSkippedError, InvalidValueError
from memory_node.llm.chat import Deadline
from memory_node.nodes import conversions
from memory_node.nodes.inputs.camera_topics import NewestImage, topic_of
from memory_node.nodes.node_parameters import VerifierParameters
from memory_node.nodes.qos import OVERRIDABLE
from memory_node.perception.crop import picture_jpeg
from memory_node.planner.visual_verifier import SeenPicture

_JPEG_QUALITY = 90
_CLOSER_MAX_PX = 512


class CameraPictures:
    """`PictureSource` over a topic of images. Only the newest message is kept; it is decoded when it is asked for."""

    def __init__(self, node: Node, config: VerifierParameters) -> None:
        self._config = config
        self._newest = NewestImage()
        self._held: Any = None
        kind, topic = topic_of(config.image_topic, config.image_transport)
        node.create_subscription(
            kind,
            topic,
            self._newest.put,
            QoSProfile(depth=1, reliability=qos_profile_sensor_data.reliability),
            callback_group=MutuallyExclusiveCallbackGroup(),
            qos_overriding_options=OVERRIDABLE,
        )

    def newest(self, earliest_ns: int) -> SeenPicture | None:
        """Return the newest picture, waiting `wait_s` for one taken at `earliest_ns` or later; see PictureSource.

        Raises:
            InputSkippedError: an unknown encoding, sizes that do not fit, data cut short, or no valid stamp.
        """
        try:
            return self._read(earliest_ns)
        except InvalidValueError as error:
            raise InputSkippedError("invalid_value", str(error)) from error

    def _read(self, earliest_ns: int) -> SeenPicture | None:
        deadline = Deadline(self._config.wait_s)
        self._held = self._newest.take(0.0) or self._held
        while self._stamp_ns() < earliest_ns and not deadline.passed and not self._newest.ended:
            self._held = self._newest.take(max(deadline.remaining_s(), 0.0)) or self._held
        if self._held is None:
            return None
        color = conversions.color_from_msg(self._held)
        whole = picture_jpeg(color, self._config.picture_max_px, _JPEG_QUALITY)
        height, width = color.shape[:2]
        middle = color[height // 4 : height - height // 4, width // 4 : width - width // 4]
        return SeenPicture(self._stamp_ns(), whole, picture_jpeg(middle, _CLOSER_MAX_PX, _JPEG_QUALITY))

    def end(self) -> None:
        """Wait for no picture any more."""
        self._newest.end()

    def _stamp_ns(self) -> int:
        """Return when the held picture was taken (ns); before everything where there is none."""
        return -1 if self._held is None else conversions.stamp_from_msg(self._held.header.stamp)

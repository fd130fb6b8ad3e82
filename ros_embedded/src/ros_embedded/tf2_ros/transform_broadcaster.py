"""Publishes the poses of moving frames on /tf."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ros_embedded.interfaces import get_message
from ros_embedded.rclpy.qos import QoSProfile

TFMessage = get_message("tf2_msgs/msg/TFMessage")


class TransformBroadcaster:
    """Sends TransformStamped messages to all buffers."""

    def __init__(self, node: Any, qos: QoSProfile | int | None = None) -> None:
        self.pub_tf = node.create_publisher(TFMessage, "/tf", QoSProfile(depth=100) if qos is None else qos)

    def sendTransform(self, transform: Any) -> None:  # noqa: N802 - tf2_ros's name
        self.pub_tf.publish(TFMessage(transforms=as_list(transform)))


def as_list(transform: Any) -> list[Any]:
    """One transform or an iterable of them as a list."""
    return list(transform) if isinstance(transform, Iterable) else [transform]

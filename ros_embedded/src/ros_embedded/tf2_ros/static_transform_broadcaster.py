"""Publishes the poses of fixed frames on /tf_static, which late subscriptions receive too."""

from __future__ import annotations

from typing import Any

from ros_embedded.interfaces import get_message
from ros_embedded.rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile
from ros_embedded.tf2_ros.transform_broadcaster import as_list

TFMessage = get_message("tf2_msgs/msg/TFMessage")


class StaticTransformBroadcaster:
    """Sends every TransformStamped that it has been given in one latched message."""

    def __init__(self, node: Any, qos: QoSProfile | int | None = None) -> None:
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL, history=HistoryPolicy.KEEP_LAST)
        self.pub_tf = node.create_publisher(TFMessage, "/tf_static", latched if qos is None else qos)
        self.net_message = TFMessage()

    def sendTransform(self, transform: Any) -> None:  # noqa: N802 - tf2_ros's name
        """Send one TransformStamped or several; a frame sent before gets its new pose.

        tf2_ros of Jazzy keeps a frame's first pose for ever here; its C++ version and this one send the new pose.
        """
        frames = {known.child_frame_id: known for known in self.net_message.transforms}
        frames |= {given.child_frame_id: given for given in as_list(transform)}
        self.net_message.transforms = list(frames.values())
        self.pub_tf.publish(self.net_message)

"""Fills a buffer from the topics /tf and /tf_static."""

from __future__ import annotations

from contextlib import suppress
from threading import Thread
from typing import Any

from ros_embedded.interfaces import get_message
from ros_embedded.rclpy.callback_groups import ReentrantCallbackGroup
from ros_embedded.rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from ros_embedded.rclpy.qos import DurabilityPolicy, QoSProfile
from ros_embedded.tf2_ros.buffer import Buffer

_LATCHED = DurabilityPolicy.TRANSIENT_LOCAL


class TransformListener:
    """Subscribes with a node on behalf of a buffer; with spin_thread it also spins that node."""

    def __init__(
        self,
        buffer: Buffer,
        node: Any,
        *,
        spin_thread: bool = False,
        qos: QoSProfile | int | None = None,
        static_qos: QoSProfile | int | None = None,
    ) -> None:
        self.buffer, self.node = buffer, node
        # a callback that waits for a transform must not block its reception
        self.group = ReentrantCallbackGroup()
        qos = QoSProfile(depth=100) if qos is None else qos
        static_qos = QoSProfile(depth=100, durability=_LATCHED) if static_qos is None else static_qos
        tf = get_message("tf2_msgs/msg/TFMessage")
        self.tf_sub = node.create_subscription(tf, "/tf", self.callback, qos, callback_group=self.group)
        self.tf_static_sub = node.create_subscription(
            tf, "/tf_static", self.static_callback, static_qos, callback_group=self.group
        )
        if spin_thread:
            self._spin_in_thread()

    def __del__(self) -> None:
        if hasattr(self, "dedicated_listener_thread"):
            self.executor.shutdown()
            self.dedicated_listener_thread.join()
        if hasattr(self, "tf_static_sub"):
            self.unregister()

    def unregister(self) -> None:
        self.node.destroy_subscription(self.tf_sub)
        self.node.destroy_subscription(self.tf_static_sub)

    def callback(self, data: Any) -> None:
        for transform in data.transforms:
            self.buffer.set_transform(transform, "default_authority")

    def static_callback(self, data: Any) -> None:
        for transform in data.transforms:
            self.buffer.set_transform_static(transform, "default_authority")

    def _spin_in_thread(self) -> None:
        node, executor = self.node, SingleThreadedExecutor(context=self.node.context)

        def spin() -> None:
            executor.add_node(node)
            with suppress(ExternalShutdownException):
                executor.spin()
            executor.remove_node(node)

        self.executor, self.dedicated_listener_thread = executor, Thread(target=spin, daemon=True)
        self.dedicated_listener_thread.start()

"""Subscriptions."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING, Any

from ros_embedded.interfaces.cdr import deserialize
from ros_embedded.rclpy.callback_groups import CallbackGroup
from ros_embedded.rclpy.event_handler import EventHandler, SubscriptionEventCallbacks
from ros_embedded.rclpy.impl.endpoint import Reader
from ros_embedded.rclpy.impl.entity import ExecutableEntity
from ros_embedded.rclpy.qos import QoSProfile

if TYPE_CHECKING:
    from ros_embedded.rclpy.node import Node


class Subscription(ExecutableEntity):
    """Made by Node.create_subscription."""

    class CallbackType(Enum):
        """What the callback takes."""

        MessageOnly = 0
        WithMessageInfo = 1

    def __init__(
        self,
        node: Node,
        reader: Reader,
        msg_type: Any,
        topic: str,
        callback: Callable[..., Any],
        callback_group: CallbackGroup,
        qos_profile: QoSProfile,
        raw: bool,
        event_callbacks: SubscriptionEventCallbacks,
    ) -> None:
        super().__init__(callback_group, reader.condition)
        self._node, self._reader = node, reader
        self.msg_type, self.topic, self.qos_profile, self.raw = msg_type, topic, qos_profile, raw
        self.callback = callback
        self.event_handlers: list[EventHandler] = event_callbacks.create_event_handlers(
            callback_group, reader, node.get_logger(), topic
        )

    @property
    def topic_name(self) -> str:
        """The full, remapped name."""
        return self._reader.topic.removeprefix("rt")

    @property
    def logger_name(self) -> str:
        """The node's logger's name."""
        return self._node.get_logger().name

    @property
    def callback(self) -> Callable[..., Any]:
        """Called with the message, or with the message and what is known of its journey."""
        return self._callback

    @callback.setter
    def callback(self, value: Callable[..., Any]) -> None:
        self._callback = value
        self._callback_type = Subscription.CallbackType.MessageOnly
        try:
            inspect.signature(value).bind(object())
        except TypeError:
            try:
                inspect.signature(value).bind(object(), object())
            except TypeError as error:
                raise RuntimeError(
                    "Subscription.__init__(): callback should be either be callable with one argument"
                    "(to get only the message) "
                    "or two (to get message and message info)"
                ) from error
            self._callback_type = Subscription.CallbackType.WithMessageInfo
        except ValueError:
            pass  # a builtin without a signature takes the message

    def get_publisher_count(self) -> int:
        """How many publishers match."""
        return len(self._reader.matches())

    def _take(self) -> Callable[[], Any] | None:
        sample = self._reader.take()
        if sample is None:
            return None
        received_ns = time.time_ns()

        def call() -> Any:
            message = sample.data if self.raw else self._decoded(sample.data)
            if message is None:
                return None
            if self._callback_type is Subscription.CallbackType.MessageOnly:
                return self._callback(message)
            info = {
                "source_timestamp": sample.source_timestamp,
                "received_timestamp": received_ns,
                "publication_sequence_number": None,
                "reception_sequence_number": None,
            }
            return self._callback(message, info)

        return call

    def _decoded(self, payload: bytes) -> Any:
        try:
            return deserialize(payload, self.msg_type)
        except ValueError as error:
            self._node.get_logger().error(f"Dropped a malformed message on '{self.topic}': {error}")
            return None

    def _close(self) -> None:
        for handler in self.event_handlers:
            handler.destroy()
        self._node.context.participant.remove(self._node._rclpy_core.entities, self._reader)

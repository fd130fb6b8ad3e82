"""Publishers."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any

from ros_embedded.interfaces.cdr import serialize
from ros_embedded.rclpy.callback_groups import CallbackGroup
from ros_embedded.rclpy.duration import Duration
from ros_embedded.rclpy.event_handler import EventHandler, PublisherEventCallbacks
from ros_embedded.rclpy.exceptions import InvalidHandle, RCLError
from ros_embedded.rclpy.impl import cyclone
from ros_embedded.rclpy.impl.endpoint import Writer
from ros_embedded.rclpy.qos import QoSProfile

if TYPE_CHECKING:
    from ros_embedded.rclpy.node import Node


class Publisher:
    """Made by Node.create_publisher."""

    def __init__(
        self,
        node: Node,
        writer: Writer,
        msg_type: Any,
        topic: str,
        qos_profile: QoSProfile,
        event_callbacks: PublisherEventCallbacks,
        callback_group: CallbackGroup,
    ) -> None:
        self._node, self._writer = node, writer
        self.msg_type, self.topic, self.qos_profile = msg_type, topic, qos_profile
        self._destroyed = False
        self.event_handlers: list[EventHandler] = event_callbacks.create_event_handlers(
            callback_group, writer, node.get_logger(), topic
        )

    @property
    def handle(self) -> Publisher:
        """Itself. Raises InvalidHandle once destroyed."""
        if self._destroyed:
            raise InvalidHandle("cannot use Destroyable because destruction was requested")
        return self

    @property
    def topic_name(self) -> str:
        """The full, remapped name."""
        return self._writer.topic.removeprefix("rt")

    @property
    def logger_name(self) -> str:
        """The node's logger's name."""
        return self._node.get_logger().name

    def publish(self, msg: Any) -> None:
        """Publish a message, or CDR bytes with their encapsulation header.

        Raises:
            TypeError: it is neither.
            RCLError: the context is shut down, or the bytes do not fit the type.
        """
        self.handle  # noqa: B018 - raises once destroyed
        if isinstance(msg, self.msg_type):
            payload = serialize(msg)
        elif isinstance(msg, bytes):
            payload = msg
        else:
            raise TypeError(f"Expected {self.msg_type}, got {type(msg)}")
        self._write(payload)

    def _write(self, payload: bytes) -> None:
        if not self._node.context.ok():
            raise RCLError("Failed to publish: publisher's context is invalid")
        try:
            self._writer.write(payload)
        except cyclone.DDSError as error:
            raise RCLError(f"Failed to publish: {error}") from error

    def get_subscription_count(self) -> int:
        """How many subscriptions match."""
        return len(self._writer.matches())

    def assert_liveliness(self) -> None:
        """Say that the publisher is alive, for LivelinessPolicy.MANUAL_BY_TOPIC."""
        cyclone.check(cyclone.assert_liveliness(self._writer.entity), "assert_liveliness")

    def wait_for_all_acked(self, timeout: Duration = Duration(seconds=-1)) -> bool:  # noqa: B008 - immutable
        """Wait until reliable subscriptions have everything; False after `timeout`, negative meaning for ever."""
        nanoseconds = timeout.nanoseconds if timeout.nanoseconds >= 0 else cyclone.INFINITE
        return cyclone.wait_for_acks(self._writer.entity, nanoseconds) == 0

    def destroy(self) -> None:
        """Leave the topic; calling again has no effect."""
        if not self._destroyed:
            self._destroyed = True
            for handler in self.event_handlers:
                handler.destroy()
            self._node.context.participant.remove(self._node._rclpy_core.entities, self._writer)

    def __enter__(self) -> Publisher:
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> None:
        self.destroy()

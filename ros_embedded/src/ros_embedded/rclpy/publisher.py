"""Publishers."""

from __future__ import annotations

from typing import Any

from ros_embedded.interfaces.cdr import serialize
from ros_embedded.rclpy.duration import Duration
from ros_embedded.rclpy.exceptions import RCLError
from ros_embedded.rclpy.impl import cyclone
from ros_embedded.rclpy.impl.topic_endpoint import TopicEndpoint


class Publisher(TopicEndpoint):
    """Made by Node.create_publisher."""

    _IS_PUBLISHER = True

    def publish(self, msg: Any) -> None:
        """Publish a message, or CDR bytes with their encapsulation header.

        Raises InvalidHandle once destroyed, TypeError if it is neither, RCLError if the context is shut down or the
        bytes do not fit the type.
        """
        with self.handle:
            if isinstance(msg, self.msg_type):
                msg = serialize(msg)
            elif not isinstance(msg, bytes):
                raise TypeError(f"Expected {self.msg_type}, got {type(msg)}")
            if not self.context.ok():
                raise RCLError("Failed to publish: publisher's context is invalid")
            self._endpoint.write(msg)

    def get_subscription_count(self) -> int:
        with self.handle:
            return len(self._endpoint.matches())

    def assert_liveliness(self) -> None:
        """Assert that the publisher is alive, for LivelinessPolicy.MANUAL_BY_TOPIC."""
        with self.handle:
            cyclone.check(cyclone.assert_liveliness(self._endpoint.entity), "assert_liveliness")

    def wait_for_all_acked(self, timeout: Duration = Duration(seconds=-1)) -> bool:  # noqa: B008 - immutable
        """Wait until reliable subscriptions have everything; False after `timeout` (negative: no limit)."""
        nanoseconds = timeout.nanoseconds if timeout.nanoseconds >= 0 else cyclone.INFINITE
        with self.handle:
            return cyclone.wait_for_acks(self._endpoint.entity, nanoseconds) == 0

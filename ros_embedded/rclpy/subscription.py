"""Subscriptions."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable
from typing import Any

from ros_embedded.interfaces.cdr import deserialize
from ros_embedded.rclpy.impl.topic_endpoint import TopicEndpoint


class Subscription(TopicEndpoint):
    """Made by Node.create_subscription."""

    _PLACE = 2
    _IS_PUBLISHER = False

    def __init__(self, callback: Callable[..., Any], raw: bool, *endpoint: Any) -> None:
        self.callback, self.raw = callback, raw
        super().__init__(*endpoint)

    @property
    def callback(self) -> Callable[..., Any]:
        """Called with the message, or with the message and what is known of its journey."""
        return self._callback

    @callback.setter
    def callback(self, value: Callable[..., Any]) -> None:
        self._callback, self._takes_info = value, _takes_info(value)

    def get_publisher_count(self) -> int:
        return len(self.handle._endpoint.matches())

    def _take(self) -> Callable[[], Any] | None:
        sample = self._endpoint.take()
        if sample is None:
            return None
        received_ns = time.time_ns()

        def call() -> Any:
            try:
                message = sample.data if self.raw else deserialize(sample.data, self.msg_type)
            except ValueError as error:
                self._node.get_logger().error(f"Dropped a malformed message on '{self.topic}': {error}")
                return None
            if not self._takes_info:
                return self._callback(message)
            info = {
                "source_timestamp": sample.source_timestamp,
                "received_timestamp": received_ns,
                "publication_sequence_number": None,
                "reception_sequence_number": None,
            }
            return self._callback(message, info)

        return call


def _takes_info(callback: Callable[..., Any]) -> bool:
    for count in (1, 2):
        try:
            inspect.signature(callback).bind(*range(count))
        except TypeError:
            continue
        except ValueError:  # a builtin without a signature takes the message
            return False
        return count == 2
    raise RuntimeError(
        "Subscription.__init__(): callback should be either be callable with one argument(to get only the message) "
        "or two (to get message and message info)"
    )

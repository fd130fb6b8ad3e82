"""Subscriptions."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable
from functools import partial
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
        """Called with the message, or with the message and its info (timestamps)."""
        return self._callback

    @callback.setter
    def callback(self, value: Callable[..., Any]) -> None:
        self._callback, self._takes_info = value, _takes_info(value)

    def get_publisher_count(self) -> int:
        with self.handle:
            return len(self._endpoint.matches())

    def take_message(self, msg_type: Any, raw: bool) -> tuple[Any, dict[str, Any]] | None:
        """Take the oldest message and its info, as rclpy's `handle` does; None if none waits."""
        sample = self._endpoint.take(bytes if raw else self._message)
        if sample is None:
            return None
        info = {"source_timestamp": sample.source_timestamp, "received_timestamp": time.time_ns()}
        return sample.data, {**info, "publication_sequence_number": None, "reception_sequence_number": None}

    def _take(self) -> Callable[[], Any] | None:
        try:
            taken = self.take_message(self.msg_type, self.raw)
        except ValueError as error:
            self._node.get_logger().error(f"Dropped a malformed message on '{self.topic}': {error}")
            return None
        return partial(self._callback, *(taken if self._takes_info else taken[:1])) if taken is not None else None

    def _message(self, payload: memoryview) -> Any:
        return deserialize(payload, self.msg_type)


def _takes_info(callback: Callable[..., Any]) -> bool:
    for count in (1, 2):
        try:
            inspect.signature(callback).bind(*range(count))
        except TypeError:
            continue
        except ValueError:  # builtins without a signature get the message alone
            return False
        return count == 2
    raise RuntimeError(
        "Subscription.__init__(): callback should be either be callable with one argument(to get only the message) "
        "or two (to get message and message info)"
    )

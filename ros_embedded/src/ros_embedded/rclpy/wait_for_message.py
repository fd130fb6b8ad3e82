"""Waits for one message."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from ros_embedded.rclpy.impl.cyclone import DDSError
from ros_embedded.rclpy.impl.wait_set import WaitSet
from ros_embedded.rclpy.qos import QoSProfile

if TYPE_CHECKING:
    from ros_embedded.rclpy.node import Node

_SLICE_NS = 100_000_000


def wait_for_message(
    msg_type: Any, node: Node, topic: str, *, qos_profile: QoSProfile | int = 1, time_to_wait: float = -1
) -> tuple[bool, Any]:
    """Subscribe and wait up to `time_to_wait` seconds (negative: for ever); (True, message) or (False, None)."""
    received: list[Any] = []
    subscription = node.create_subscription(msg_type, topic, received.append, qos_profile)
    deadline = time.monotonic() + time_to_wait if time_to_wait >= 0 else float("inf")
    wait_set = WaitSet(node.context.participant.entity)
    wait_set.attach(subscription._condition)
    try:
        while not received and node.context.ok() and time.monotonic() < deadline:
            with node.context.participant.lifetime:
                wait_set.wait(_SLICE_NS)
            call = subscription._take()
            if call is not None:
                call()
        return (True, received[0]) if received else (False, None)
    except DDSError:  # shut down meanwhile
        return False, None
    finally:
        if node.context.ok():
            wait_set.close()
        node.destroy_subscription(subscription)

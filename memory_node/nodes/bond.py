"""The heartbeat by which Nav2's lifecycle manager notices that a node died or hangs (the protocol of bond_core)."""

from __future__ import annotations

import uuid
from typing import Any

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.node import Node

# In the namespace of the node, where its manager is, too.
TOPIC = "bond"
# Silence after which a bond counts as broken: Nav2's value (s).
_TIMEOUT_S = 4.0


class Bond:
    """One side of a bond, named after its node: says `active` once a period, and says goodbye when it ends.

    If the other side falls silent, the node does nothing: then the manager has died. Without the package `bond` there
    is no heartbeat, and the log says so.

    Args:
        node: the node that talks; other threads spin it.
        period_s: time between two heartbeats; 0: there is no bond.
    """

    def __init__(self, node: Node, period_s: float) -> None:
        self._node = node
        self._period_s = period_s
        self._instance_id = str(uuid.uuid4())
        self._publisher: Any = None
        self._timer: Any = None
        self._status_type: Any = _status_type() if period_s > 0.0 else None
        if period_s > 0.0 and self._status_type is None:
            node.get_logger().info("the package bond is not installed: no heartbeat for a lifecycle manager")

    def start(self) -> None:
        """Begin to beat."""
        if self._status_type is None or self._publisher is not None:
            return
        self._publisher = self._node.create_publisher(self._status_type, TOPIC, 10)
        group = MutuallyExclusiveCallbackGroup()  # beats while other callbacks are busy: only a hanging node is silent
        self._timer = self._node.create_timer(self._period_s, self._beat, callback_group=group)

    def stop(self) -> None:
        """Say goodbye."""
        if self._publisher is None:
            return
        self._node.destroy_timer(self._timer)
        self._say(active=False)
        self._node.destroy_publisher(self._publisher)
        self._publisher = self._timer = None

    def _beat(self) -> None:
        self._say(active=True)

    def _say(self, active: bool) -> None:
        status = self._status_type(
            id=self._node.get_name(),
            instance_id=self._instance_id,
            active=active,
            heartbeat_timeout=_TIMEOUT_S,
            heartbeat_period=self._period_s,
        )
        status.header.stamp = self._node.get_clock().now().to_msg()
        if self._publisher is not None:
            self._publisher.publish(status)


def _status_type() -> Any:
    try:
        from bond.msg import Status
    except ImportError:
        return None
    return Status

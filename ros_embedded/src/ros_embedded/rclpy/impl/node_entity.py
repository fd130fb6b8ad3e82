"""The base of publishers, subscriptions, services and clients."""

from __future__ import annotations

from typing import Any

from ros_embedded.rclpy.callback_groups import CallbackGroup
from ros_embedded.rclpy.context import Context
from ros_embedded.rclpy.impl.endpoint import Reader, Writer
from ros_embedded.rclpy.impl.entity import ExecutableEntity
from ros_embedded.rclpy.impl.node_interface import NodeInterface


class NodeEntity(ExecutableEntity):
    """One or two DDS endpoints of a node that form a publisher, subscription, service or client."""

    event_handlers: list[Any]

    def __init__(self, node: NodeInterface, callback_group: CallbackGroup, *endpoints: Reader | Writer) -> None:
        conditions = [endpoint.condition for endpoint in endpoints if endpoint.condition is not None]
        super().__init__(callback_group, conditions[0] if conditions else None)
        self._node, self._endpoints, self.event_handlers = node, endpoints, []
        node._rclpy_core.add(self)

    @property
    def context(self) -> Context:
        return self._node.context

    @property
    def logger_name(self) -> str:
        return self._node.get_logger().name

    def _close(self) -> None:
        for handler in self.event_handlers:
            self._node._rclpy_core.destroy(handler)
        self.context.participant.remove(self._node._rclpy_core.entities, *self._endpoints)

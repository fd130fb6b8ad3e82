"""The base of publishers and subscriptions."""

from __future__ import annotations

from typing import Any

from ros_embedded.rclpy.callback_groups import CallbackGroup
from ros_embedded.rclpy.event_handler import EventCallbacks
from ros_embedded.rclpy.impl.node_entity import NodeEntity
from ros_embedded.rclpy.impl.node_interface import NodeInterface
from ros_embedded.rclpy.qos import QoSProfile
from ros_embedded.rclpy.qos_overriding_options import QoSOverridingOptions, declare_qos_parameters
from ros_embedded.rclpy.type_support import check_is_valid_msg_type


def _qos_profile(qos_or_depth: QoSProfile | int) -> QoSProfile:
    if isinstance(qos_or_depth, QoSProfile):
        return qos_or_depth
    if not isinstance(qos_or_depth, int):
        raise TypeError(f"Expected QoSProfile or int, but received {type(qos_or_depth)!r}")
    if qos_or_depth < 0:
        raise ValueError("history depth must be greater than or equal to zero")
    return QoSProfile(depth=qos_or_depth)


class TopicEndpoint(NodeEntity):
    """A node's end of a topic."""

    _IS_PUBLISHER: bool

    def __init__(
        self,
        node: NodeInterface,
        msg_type: Any,
        topic: str,
        qos_profile: QoSProfile | int,
        callback_group: CallbackGroup | None,
        event_callbacks: EventCallbacks,
        overriding: QoSOverridingOptions | None,
    ) -> None:
        check_is_valid_msg_type(msg_type)
        qos, name = _qos_profile(qos_profile), node.handle._rclpy_core.resolve(topic, "topic")
        if overriding is not None:
            kind = "publisher" if self._IS_PUBLISHER else "subscription"
            qos = declare_qos_parameters(node, kind, name, qos, overriding)
        participant, group = node.context.participant, callback_group or node.default_callback_group
        dds_topic = name if qos.avoid_ros_namespace_conventions else f"rt{name}"
        create = participant.create_writer if self._IS_PUBLISHER else participant.create_reader
        self._endpoint: Any = create(node._rclpy_core.entities, dds_topic, msg_type._TYPE_NAME, qos)
        self.msg_type, self.topic, self.topic_name, self.qos_profile = msg_type, topic, name, qos
        super().__init__(node, group, self._endpoint)
        self.event_handlers = event_callbacks.create_event_handlers(group, self._endpoint, node.get_logger(), topic)
        for handler in self.event_handlers:
            node._rclpy_core.add(handler)

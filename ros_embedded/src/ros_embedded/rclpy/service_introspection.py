"""Publishes on `<service>/_service_event` what a service or client sends and receives."""

from __future__ import annotations

from enum import Enum
from typing import Any

import numpy as np

from ros_embedded.interfaces import get_message
from ros_embedded.interfaces.cdr import serialize
from ros_embedded.rclpy.clock import Clock
from ros_embedded.rclpy.impl.best_available import resolved
from ros_embedded.rclpy.impl.node_interface import NodeInterface
from ros_embedded.rclpy.qos import QoSProfile


class ServiceIntrospectionState(Enum):
    """What is published: nothing, times and ids, or the requests and responses too."""

    OFF = 0
    METADATA = 1
    CONTENTS = 2

    def __int__(self) -> int:
        return int(self.value)


class ServiceEventPublisher:
    """The events of one service or client; `event_type` is its service's Event class."""

    def __init__(self, node: NodeInterface, event_type: Any, service_name: str, clock: Clock, qos: QoSProfile) -> None:
        self._node, self._event_type, self._clock = node, event_type, clock
        self.state = ServiceIntrospectionState.OFF
        self._participant = node.context.participant
        topic = f"rt{node._rclpy_core.resolve(f'{service_name}/_service_event', 'topic')}"
        qos = resolved(qos, self._participant.graph, topic, is_publisher=True)
        self._writer = self._participant.create_writer(node._rclpy_core.entities, topic, event_type._TYPE_NAME, qos)

    def publish(self, part: str, verb: str, message: Any, client_gid: bytes, sequence_number: int) -> None:
        """Publish that `message`, a "request" or "response", was "SENT" or "RECEIVED"."""
        info = get_message("service_msgs/msg/ServiceEventInfo")
        event = self._event_type()
        event.info = info(
            event_type=getattr(info, f"{part.upper()}_{verb}"),
            stamp=self._clock.now().to_msg(),
            client_gid=np.frombuffer(client_gid, np.uint8),
            sequence_number=sequence_number,
        )
        if self.state == ServiceIntrospectionState.CONTENTS:
            setattr(event, part, [message])
        if self._node.context.ok():
            self._writer.write(serialize(event))

    def close(self) -> None:
        self._participant.remove(self._node._rclpy_core.entities, self._writer)

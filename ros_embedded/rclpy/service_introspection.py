"""Publishes what a service or client sends and receives on `<service>/_service_event`."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Any

from ros_embedded.rclpy.clock import Clock
from ros_embedded.rclpy.constants import S_TO_NS
from ros_embedded.rclpy.impl.request_header import RequestId
from ros_embedded.rclpy.qos import QoSProfile

if TYPE_CHECKING:
    from ros_embedded.rclpy.node import Node


class ServiceIntrospectionState(IntEnum):
    """How much is published."""

    OFF = 0
    METADATA = 1
    CONTENTS = 2


class ServiceEvent(IntEnum):
    """What happened, as numbered in service_msgs/msg/ServiceEventInfo."""

    REQUEST_SENT = 0
    REQUEST_RECEIVED = 1
    RESPONSE_SENT = 2
    RESPONSE_RECEIVED = 3


class ServiceIntrospection:
    """The introspection of one service or client; off until configured."""

    def __init__(self, node: Node, srv_type: Any, service_name: str) -> None:
        self._node, self._srv_type, self._topic = node, srv_type, f"{service_name}/_service_event"
        self._state = ServiceIntrospectionState.OFF
        self._publisher: Any = None
        self._clock: Any = None

    def configure(self, clock: Clock, qos_profile: QoSProfile, state: ServiceIntrospectionState) -> None:
        """Publish `state`'s share from now on, stamped by `clock`."""
        self._clock, self._state = clock, ServiceIntrospectionState(state)
        self.close()
        if self._state is not ServiceIntrospectionState.OFF:
            self._publisher = self._node.create_publisher(self._srv_type.Event, self._topic, qos_profile)
            self._node._publishers.remove(self._publisher)

    def note(self, event: ServiceEvent, request_id: RequestId, message: Any) -> None:
        """Publish an event, if configured."""
        if self._publisher is None:
            return
        published = self._srv_type.Event()
        seconds, nanoseconds = divmod(self._clock.now().nanoseconds, S_TO_NS)
        published.info.event_type = int(event)
        published.info.stamp.sec, published.info.stamp.nanosec = seconds, nanoseconds
        published.info.client_gid = list(request_id.client.to_bytes(8, "little") + bytes(8))
        published.info.sequence_number = request_id.sequence_number
        if self._state is ServiceIntrospectionState.CONTENTS:
            is_request = event in (ServiceEvent.REQUEST_SENT, ServiceEvent.REQUEST_RECEIVED)
            (published.request if is_request else published.response).append(message)
        self._publisher.publish(published)

    def close(self) -> None:
        """Publish no more."""
        if self._publisher is not None:
            self._publisher.destroy()
            self._publisher = None

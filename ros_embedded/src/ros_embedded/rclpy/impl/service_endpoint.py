"""The base of services and clients: a reader, a writer, and the header that links a reply to its request."""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

from ros_embedded.interfaces.cdr import deserialize, serialize
from ros_embedded.rclpy.callback_groups import CallbackGroup
from ros_embedded.rclpy.clock import Clock
from ros_embedded.rclpy.impl.node_entity import NodeEntity
from ros_embedded.rclpy.impl.node_interface import NodeInterface
from ros_embedded.rclpy.qos import QoSProfile
from ros_embedded.rclpy.service_introspection import ServiceEventPublisher, ServiceIntrospectionState
from ros_embedded.rclpy.type_support import check_is_valid_srv_type


class RequestId(NamedTuple):
    """The client's id, the number of its request, and this process's handle of the client's writer."""

    client: int
    sequence_number: int
    writer: int = 0


_SIZE = 16
_ENCAPSULATION = 4


def with_header(payload: bytes | bytearray, request: RequestId) -> bytes | bytearray:
    """`payload`, CDR with its encapsulation header, as it travels."""
    return payload[:_ENCAPSULATION] + struct.pack("<Qq", *request[:2]) + payload[_ENCAPSULATION:]


def without_header(payload: bytes, writer: int = 0) -> tuple[RequestId, bytes]:
    """The header, and the CDR without it. Raises ValueError if there is none."""
    start = _ENCAPSULATION + _SIZE
    if len(payload) < start:
        raise ValueError(f"a request or reply has at least {start} bytes, got {len(payload)}")
    order = "<" if payload[1] & 1 else ">"
    client, number = struct.unpack_from(f"{order}Qq", payload, _ENCAPSULATION)
    return RequestId(client, number, writer), payload[:_ENCAPSULATION] + payload[start:]


class ServiceEndpoint(NodeEntity):
    """A node's end of a service."""

    _IS_CLIENT: bool
    _events: ServiceEventPublisher | None = None

    def __init__(
        self,
        node: NodeInterface,
        srv_type: Any,
        srv_name: str,
        qos_profile: QoSProfile,
        callback_group: CallbackGroup | None,
    ) -> None:
        check_is_valid_srv_type(srv_type)
        name = node.handle._rclpy_core.resolve(srv_name, "service")
        participant, entities = node.context.participant, node._rclpy_core.entities
        self._gid = participant.new_service_id()
        mark = f"{'client' if self._IS_CLIENT else 'service'}id= {'.'.join(f'{octet:x}' for octet in self._gid)};"
        request = (f"rq{name}Request", srv_type.Request._TYPE_NAME, qos_profile, mark)
        reply = (f"rr{name}Reply", srv_type.Response._TYPE_NAME, qos_profile, mark)
        with participant.graph.announcement():
            self._reader = participant.create_reader(entities, *(reply if self._IS_CLIENT else request))
            self._writer = participant.create_writer(entities, *(request if self._IS_CLIENT else reply))
        self.srv_type, self.srv_name, self.service_name, self.qos_profile = srv_type, srv_name, name, qos_profile
        super().__init__(node, callback_group or node.default_callback_group, self._reader, self._writer)

    def configure_introspection(
        self, clock: Clock, service_event_qos_profile: QoSProfile, introspection_state: ServiceIntrospectionState
    ) -> None:
        """Publish on `<service>/_service_event` what is sent and received; OFF ends it.

        While it is on, only the state can change; clock and QoS stay those of the first call.
        Raises TypeError if the state is none.
        """
        self.handle  # noqa: B018 - raises once destroyed
        if not isinstance(introspection_state, ServiceIntrospectionState):
            raise TypeError(f"Expected {ServiceIntrospectionState}, got {type(introspection_state)}")
        if introspection_state == ServiceIntrospectionState.OFF:
            self._close_events()
            return
        if self._events is None:
            self._events = ServiceEventPublisher(
                self._node, self.srv_type.Event, self.service_name, clock, service_event_qos_profile
            )
        self._events.state = introspection_state

    def _close_events(self) -> None:
        events, self._events = self._events, None
        if events is not None:
            events.close()

    def _close(self) -> None:
        self._close_events()
        super()._close()

    def _write(self, message: Any, request_id: RequestId) -> None:
        self._writer.write(with_header(serialize(message), request_id))
        self._report(message, "SENT", request_id)

    def _read(self, payload: bytes, message_class: Any, request_id: RequestId) -> Any:
        """The message without its header; None, and a line in the log, if it is malformed."""
        try:
            message = deserialize(payload, message_class)
        except ValueError as error:
            self._drop(error)
            return None
        self._report(message, "RECEIVED", request_id)
        return message

    def _report(self, message: Any, verb: str, request_id: RequestId) -> None:
        events = self._events
        if events is not None:
            part = "request" if isinstance(message, self.srv_type.Request) else "response"
            gid = self._gid if self._IS_CLIENT else struct.pack("<QQ", request_id.client, request_id.writer)
            events.publish(part, verb, message, gid, request_id.sequence_number)

    def _drop(self, error: ValueError) -> None:
        self._node.get_logger().error(f"Dropped malformed data of service '{self.service_name}': {error}")

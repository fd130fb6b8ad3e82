"""The base of services and clients: a reader, a writer, and the header that links a reply to its request."""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

from ros_embedded.interfaces.cdr import deserialize, serialize
from ros_embedded.rclpy.callback_groups import CallbackGroup
from ros_embedded.rclpy.impl.node_entity import NodeEntity
from ros_embedded.rclpy.impl.node_interface import NodeInterface
from ros_embedded.rclpy.qos import QoSProfile
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
        octets = ".".join(f"{octet:x}" for octet in participant.new_service_id())
        mark = f"{'client' if self._IS_CLIENT else 'service'}id= {octets};"
        request = (f"rq{name}Request", srv_type.Request._TYPE_NAME, qos_profile, mark)
        reply = (f"rr{name}Reply", srv_type.Response._TYPE_NAME, qos_profile, mark)
        with participant.graph.announcement():
            self._reader = participant.create_reader(entities, *(reply if self._IS_CLIENT else request))
            self._writer = participant.create_writer(entities, *(request if self._IS_CLIENT else reply))
        self.srv_type, self.srv_name, self.service_name, self.qos_profile = srv_type, srv_name, name, qos_profile
        super().__init__(node, callback_group or node.default_callback_group, self._reader, self._writer)

    def _write(self, message: Any, request_id: RequestId) -> None:
        self._writer.write(with_header(serialize(message), request_id))

    def _read(self, payload: bytes, message_class: Any) -> Any:
        """The message without its header; None, and a line in the log, if it is malformed."""
        try:
            return deserialize(payload, message_class)
        except ValueError as error:
            self._drop(error)
            return None

    def _drop(self, error: ValueError) -> None:
        self._node.get_logger().error(f"Dropped malformed data of service '{self.service_name}': {error}")

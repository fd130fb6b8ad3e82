"""Services: answer requests."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ros_embedded.interfaces.cdr import deserialize, serialize
from ros_embedded.rclpy.callback_groups import CallbackGroup
from ros_embedded.rclpy.clock import Clock
from ros_embedded.rclpy.exceptions import RCLError
from ros_embedded.rclpy.impl import cyclone
from ros_embedded.rclpy.impl.endpoint import Reader, Writer
from ros_embedded.rclpy.impl.entity import ExecutableEntity
from ros_embedded.rclpy.impl.request_header import RequestId, with_header, without_header
from ros_embedded.rclpy.impl.typesupport import user_data_value
from ros_embedded.rclpy.qos import QoSProfile
from ros_embedded.rclpy.service_introspection import (
    ServiceEvent,
    ServiceIntrospection,
    ServiceIntrospectionState,
)
from ros_embedded.rclpy.type_support import check_is_valid_srv_type

if TYPE_CHECKING:
    from ros_embedded.rclpy.node import Node

# A request can arrive before discovery has matched the client's reply reader; a reply sent then is lost.
_DISCOVERY_DEADLINE_S = 0.1


class Service(ExecutableEntity):
    """Made by Node.create_service."""

    def __init__(
        self,
        node: Node,
        reader: Reader,
        writer: Writer,
        srv_type: Any,
        srv_name: str,
        callback: Callable[[Any, Any], Any],
        callback_group: CallbackGroup,
        qos_profile: QoSProfile,
    ) -> None:
        super().__init__(callback_group, reader.condition)
        self._node, self._reader, self._writer = node, reader, writer
        self.srv_type, self.srv_name, self.callback, self.qos_profile = srv_type, srv_name, callback, qos_profile
        self._known_clients: set[int] = set()
        self._introspection = ServiceIntrospection(node, srv_type, srv_name)

    @property
    def service_name(self) -> str:
        """The full, remapped name."""
        return self.srv_name

    @property
    def logger_name(self) -> str:
        """The node's logger's name."""
        return self._node.get_logger().name

    def configure_introspection(
        self, clock: Clock, service_event_qos_profile: QoSProfile, introspection_state: ServiceIntrospectionState
    ) -> None:
        """Publish what is sent and received on `<service>/_service_event`, or stop."""
        self._introspection.configure(clock, service_event_qos_profile, introspection_state)

    def _take(self) -> Callable[[], Any] | None:
        sample = self._reader.take()
        if sample is None:
            return None

        async def answer() -> None:
            try:
                request_id, payload = without_header(sample.data)
                request = deserialize(payload, self.srv_type.Request)
            except ValueError as error:
                self._node.get_logger().error(f"Dropped a malformed request to '{self.srv_name}': {error}")
                return
            self._introspection.note(ServiceEvent.REQUEST_RECEIVED, request_id, request)
            self._wait_for_client(sample.publication_handle)
            await self._answer(request, request_id)

        return answer

    async def _answer(self, request: Any, request_id: RequestId) -> None:
        response = self.callback(request, self.srv_type.Response())
        if inspect.isawaitable(response):
            response = await response
        self.send_response(response, request_id)

    def send_response(self, response: Any, header: RequestId) -> None:
        """Answer a request.

        Raises:
            TypeError: `response` is no response of this service.
        """
        if not isinstance(response, self.srv_type.Response):
            raise TypeError(f"Expected {self.srv_type.Response}, got {type(response)}")
        if self._destroyed or not self._node.context.ok():
            return
        try:
            self._writer.write(with_header(serialize(response), header))
        except cyclone.DDSError as error:
            raise RCLError(f"failed to send response: {error}") from error
        self._introspection.note(ServiceEvent.RESPONSE_SENT, header, response)

    def _wait_for_client(self, publication_handle: int) -> None:
        """Wait until replies reach the client whose request writer is given, if it is still there."""
        if publication_handle in self._known_clients:
            return
        deadline = time.monotonic() + _DISCOVERY_DEADLINE_S
        graph = self._node.context.participant.graph
        while time.monotonic() < deadline:
            graph.refresh()
            client = graph.publications.get(publication_handle)
            if client is None or client.qos is None:
                return
            client_id = user_data_value(client.qos.user_data, "clientid")
            for handle in self._writer.matches():
                reader = graph.subscriptions.get(handle)
                if reader is not None and reader.qos is not None:
                    if client_id and user_data_value(reader.qos.user_data, "clientid") != client_id:
                        continue
                    self._known_clients.add(publication_handle)
                    return
            time.sleep(0.002)

    def _close(self) -> None:
        self._introspection.close()
        self._node.context.participant.remove(self._node._rclpy_core.entities, self._reader, self._writer)


class DeferringService(Service):
    """A service whose callback takes the request and a function that sends the response, now or later."""

    async def _answer(self, request: Any, request_id: RequestId) -> None:
        await self.callback(request, lambda response: self.send_response(response, request_id))


def make_service(
    kind: type[Service],
    node: Node,
    srv_type: Any,
    srv_name: str,
    callback: Callable[..., Any],
    qos: QoSProfile,
    group: CallbackGroup,
) -> Service:
    """Create a service of a class for a node. Raises InvalidServiceNameException."""
    check_is_valid_srv_type(srv_type)
    participant, entities = node.handle.context.participant, node._rclpy_core.entities
    name, mark = node.resolve_service_name(srv_name), f"serviceid= {participant.new_service_id()};"
    request, reply = srv_type.Request._TYPE_NAME, srv_type.Response._TYPE_NAME
    with participant.graph.announcement():
        writer = participant.create_writer(entities, f"rr{name}Reply", reply, qos, mark)
        reader = participant.create_reader(entities, f"rq{name}Request", request, qos, mark)
    service = kind(node, reader, writer, srv_type, name, callback, group, qos)
    node._rclpy_core.add(service)
    return service

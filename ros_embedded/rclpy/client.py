"""Clients: ask services."""

from __future__ import annotations

import itertools
import threading
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
from ros_embedded.rclpy.task import Future

if TYPE_CHECKING:
    from ros_embedded.rclpy.node import Node

_POLL_S = 0.01


class Client(ExecutableEntity):
    """Made by Node.create_client."""

    def __init__(
        self,
        node: Node,
        reader: Reader,
        writer: Writer,
        srv_type: Any,
        srv_name: str,
        qos_profile: QoSProfile,
        callback_group: CallbackGroup,
    ) -> None:
        super().__init__(callback_group, reader.condition)
        self._node, self._reader, self._writer = node, reader, writer
        self.srv_type, self.srv_name, self.qos_profile = srv_type, srv_name, qos_profile
        self._numbers = itertools.count(1)
        self._pending_requests: dict[int, Future] = {}
        self._lock = threading.Lock()
        self._introspection = ServiceIntrospection(node, srv_type, srv_name)

    @property
    def context(self) -> Any:
        """The node's context."""
        return self._node.context

    @property
    def service_name(self) -> str:
        """The full, remapped name."""
        return self.srv_name

    @property
    def logger_name(self) -> str:
        """The node's logger's name."""
        return self._node.get_logger().name

    def call(self, request: Any, timeout_sec: float | None = None) -> Any:
        """Ask and wait for the answer, None if it takes longer than `timeout_sec`; another thread must spin the node.

        Raises:
            TypeError: `request` is no request of this service.
        """
        event = threading.Event()
        future = self.call_async(request)
        future.add_done_callback(lambda _: event.set())
        if not event.wait(timeout_sec):
            self.remove_pending_request(future)
        return future.result()

    def call_async(self, request: Any) -> Future:
        """Ask; the future gets the answer. Raises TypeError if `request` is no request of this service."""
        if not isinstance(request, self.srv_type.Request):
            raise TypeError(f"Expected {self.srv_type.Request}, got {type(request)}")
        self.handle  # noqa: B018 - raises once destroyed
        if not self._node.context.ok():
            raise RCLError("failed to send request: the client's context is invalid")
        payload = serialize(request)
        future = Future()
        with self._lock:
            number = next(self._numbers)
            self._pending_requests[number] = future
        future.add_done_callback(self.remove_pending_request)
        executor = self._node.executor
        if executor is not None:
            future._set_executor(executor)
        request_id = RequestId(self._writer.handle, number)
        try:
            self._writer.write(with_header(payload, request_id))
        except cyclone.DDSError as error:
            self.remove_pending_request(future)
            raise RCLError(f"failed to send request: {error}") from error
        self._introspection.note(ServiceEvent.REQUEST_SENT, request_id, request)
        return future

    def get_pending_request(self, sequence_number: int) -> Future:
        """The future of a request. Raises KeyError."""
        with self._lock:
            return self._pending_requests[sequence_number]

    def remove_pending_request(self, future: Future) -> None:
        """Forget a request whose answer is no longer wanted."""
        with self._lock:
            for number, pending in list(self._pending_requests.items()):
                if pending is future:
                    del self._pending_requests[number]

    def configure_introspection(
        self, clock: Clock, service_event_qos_profile: QoSProfile, introspection_state: ServiceIntrospectionState
    ) -> None:
        """Publish what is sent and received on `<service>/_service_event`, or stop."""
        self._introspection.configure(clock, service_event_qos_profile, introspection_state)

    def service_is_ready(self) -> bool:
        """True if a server has been found, with both of its endpoints."""
        if not self.context.ok():
            return False
        graph = self._node.context.participant.graph
        graph.refresh()

        def servers(handles: list[int], known: dict[int, cyclone.Endpoint]) -> set[str | None]:
            found = (known.get(handle) for handle in handles)
            return {user_data_value(e.qos.user_data, "serviceid") for e in found if e is not None and e.qos is not None}

        readers = servers(self._writer.matches(), graph.subscriptions)
        return bool(readers & servers(self._reader.matches(), graph.publications))

    def wait_for_service(self, timeout_sec: float | None = None) -> bool:
        """Wait for a server; False after `timeout_sec` (None: wait for ever) or when the context shuts down."""
        deadline = None if timeout_sec is None else time.monotonic() + timeout_sec
        while not (ready := self.service_is_ready()) and self.context.ok():
            if deadline is not None and time.monotonic() >= deadline:
                break
            time.sleep(_POLL_S)
        return ready

    def _take(self) -> Callable[[], Any] | None:
        while (sample := self._reader.take()) is not None:
            try:
                request_id, payload = without_header(sample.data)
            except ValueError as error:
                self._node.get_logger().error(f"Dropped a malformed reply of '{self.srv_name}': {error}")
                continue
            if request_id.client == self._writer.handle:  # every client of the service hears every reply
                return lambda: self._finish(request_id, payload)
        return None

    def _finish(self, request_id: RequestId, payload: bytes) -> None:
        try:
            response = deserialize(payload, self.srv_type.Response)
        except ValueError as error:
            self._node.get_logger().error(f"Dropped a malformed reply of '{self.srv_name}': {error}")
            return
        with self._lock:
            future = self._pending_requests.get(request_id.sequence_number)
        self._introspection.note(ServiceEvent.RESPONSE_RECEIVED, request_id, response)
        if future is not None:
            future.set_result(response)

    def _close(self) -> None:
        self._introspection.close()
        self._node.context.participant.remove(self._node._rclpy_core.entities, self._reader, self._writer)

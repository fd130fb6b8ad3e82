"""Clients of services."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from typing import Any

from ros_embedded.rclpy.exceptions import RCLError
from ros_embedded.rclpy.impl import cyclone
from ros_embedded.rclpy.impl.polling import wait_until
from ros_embedded.rclpy.impl.service_endpoint import RequestId, ServiceEndpoint, without_header
from ros_embedded.rclpy.impl.typesupport import user_data_value
from ros_embedded.rclpy.task import Future


class Client(ServiceEndpoint):
    """Made by Node.create_client."""

    _IS_CLIENT = True
    _PLACE = 4
    _on_unexpected_response: Callable[[], object] = staticmethod(lambda: None)

    def __init__(self, *endpoint: Any) -> None:
        self._numbers = itertools.count(1)
        self._pending_requests: dict[int, Future] = {}
        self._lock = threading.Lock()
        super().__init__(*endpoint)

    def call(self, request: Any, timeout_sec: float | None = None) -> Any:
        """Send a request and wait for the response; None after `timeout_sec`. Another thread must spin the node.

        Raises TypeError if `request` is no request of this service.
        """
        future = self.call_async(request)
        if not future._wait(timeout_sec):
            self.remove_pending_request(future)
        return future.result()

    def call_async(self, request: Any) -> Future:
        """Send a request; the future gets the response. Raises TypeError if it is no request of this service."""
        return self._ask(request, Future())

    def _ask(self, request: Any, future: Future) -> Future:
        if not isinstance(request, self.srv_type.Request):
            raise TypeError(f"Expected {self.srv_type.Request}, got {type(request)}")
        with self.handle:
            if not self.context.ok():
                raise RCLError("failed to send request: the client's context is invalid")
            with self._lock:
                number = next(self._numbers)
                self._pending_requests[number] = future
            future.add_done_callback(self.remove_pending_request)
            try:
                self._write(request, RequestId(self._writer.handle, number))
            except Exception:
                self.remove_pending_request(future)
                raise
        return future

    def remove_pending_request(self, future: Future) -> None:
        with self._lock:
            for number, pending in list(self._pending_requests.items()):
                if pending is future:
                    del self._pending_requests[number]

    def service_is_ready(self) -> bool:
        """True if a server has been found, with both of its endpoints. Raises RCLError if the context is shut down."""
        graph = self.context.participant.graph

        def servers(handles: list[int], known: dict[int, cyclone.Endpoint]) -> set[str | None]:
            found = (known.get(handle) for handle in handles)
            return {user_data_value(e.qos.user_data, "serviceid") for e in found if e is not None and e.qos is not None}

        with self.handle:
            graph.refresh()
            readers = servers(self._writer.matches(), graph.subscriptions)
            return bool(readers & servers(self._reader.matches(), graph.publications))

    def wait_for_service(self, timeout_sec: float | None = None) -> bool:
        """Wait for a server; False after `timeout_sec` (None: for ever). Raises RCLError when the context ends."""
        return wait_until(self.service_is_ready, timeout_sec, self.context)

    def _take(self) -> Callable[[], Any] | None:
        while (sample := self._reader.take()) is not None:
            try:
                request_id, payload = without_header(sample.data)
            except ValueError as error:
                self._drop(error)
                continue
            if request_id.client == self._writer.handle:  # replies to all clients of the service arrive here
                return lambda: self._finish(request_id, payload)
        return None

    def _finish(self, request_id: RequestId, payload: bytes) -> None:
        response = self._read(payload, self.srv_type.Response)
        with self._lock:
            future = self._pending_requests.get(request_id.sequence_number)
        if future is None:
            self._on_unexpected_response()
        elif response is not None:
            future._set_executor(self._node._rclpy_core.executor)
            future.set_result(response)

"""Services."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from typing import Any

from ros_embedded.rclpy.exceptions import InvalidHandle
from ros_embedded.rclpy.impl.service_endpoint import RequestId, ServiceEndpoint, without_header
from ros_embedded.rclpy.impl.typesupport import user_data_value
from ros_embedded.rclpy.task import await_or_execute

# A request can arrive before discovery has matched the client's reply reader; a reply sent then is lost.
_DISCOVERY_DEADLINE_S = 0.1


class Service(ServiceEndpoint):
    """Made by Node.create_service."""

    _IS_CLIENT = False
    _PLACE = 5

    def __init__(self, callback: Callable[..., Any], *endpoint: Any) -> None:
        self.callback = callback
        self._known_clients: set[int] = set()
        super().__init__(*endpoint)

    def _take(self) -> Callable[[], Any] | None:
        sample = self._reader.take()
        if sample is None:
            return None

        async def answer() -> None:
            try:
                request_id, payload = without_header(sample.data, sample.publication_handle)
            except ValueError as error:
                self._drop(error)
                return
            request = self._read(payload, self.srv_type.Request)
            if request is not None:
                self._wait_for_client(request_id.writer)
                await self._answer(request, request_id)

        return answer

    async def _answer(self, request: Any, request_id: RequestId) -> None:
        response = await await_or_execute(self.callback, request, self.srv_type.Response())
        self.send_response(response, request_id)

    def send_response(self, response: Any, header: RequestId) -> None:
        """Send the response to a request.

        Raises TypeError if `response` is no response of this service, InvalidHandle once destroyed.
        """
        if not isinstance(response, self.srv_type.Response):
            raise TypeError(f"Expected {self.srv_type.Response}, got {type(response)}")
        with self.handle:
            if self.context.ok():
                self._write(response, header)

    def _wait_for_client(self, publication_handle: int) -> None:
        """Wait until replies reach the client whose request writer is given, if it is still there."""
        if publication_handle in self._known_clients:
            return
        deadline = time.monotonic() + _DISCOVERY_DEADLINE_S
        graph = self.context.participant.graph
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


class DeferringService(Service):
    """A service whose callback takes the request and a function that sends the response, now or later.

    A response that comes after the service was destroyed is dropped.
    """

    async def _answer(self, request: Any, request_id: RequestId) -> None:
        def respond(response: Any) -> None:
            with contextlib.suppress(InvalidHandle):
                self.send_response(response, request_id)

        await self.callback(request, respond)

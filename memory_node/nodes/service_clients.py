"""Waits for other nodes' answers inside callbacks, each wait with a deadline, while other threads spin."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from typing import Any

from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node
from rclpy.task import Future

from memory_node.domain.errors import RobotMemoryError

_POLL_S = 0.05


class PeerTimeoutError(RobotMemoryError, TimeoutError):
    """Another node did not answer in time; the message names it."""


def done_event(future: Future) -> threading.Event:
    """Return an event that is set once another executor thread has completed the future."""
    done = threading.Event()
    future.add_done_callback(lambda _: done.set())
    return done


def result_of(future: Future, timeout_s: float, peer: str, is_vain: Callable[[], bool] = lambda: False) -> Any:
    """Return the future's result once another executor thread has completed it.

    is_vain: whether it is no use to wait longer; asked again and again.

    Raises:
        PeerTimeoutError: nothing came within `timeout_s`, or `is_vain` became true.
    """
    done = done_event(future)
    deadline_s = time.monotonic() + timeout_s
    while not done.wait(min(_POLL_S, max(0.0, deadline_s - time.monotonic()))):
        if is_vain():
            future.cancel()
            raise PeerTimeoutError(f"{peer} is not offered any more")
        if time.monotonic() >= deadline_s:
            future.cancel()
            raise PeerTimeoutError(f"{peer} did not answer within {timeout_s:g} s; is its node running?")
    return future.result()


def answer_of(client: Any, request: Any, timeout_s: float, is_ending: Callable[[], bool]) -> Any:
    """Call a service and return its response; an ending node waits for a service only while it is offered.

    Raises:
        PeerTimeoutError: nobody offers the service, or answers, within `timeout_s` each; or this node is to end, and
            nobody offers it.
    """
    deadline_s = time.monotonic() + timeout_s
    while not client.wait_for_service(timeout_sec=min(_POLL_S, timeout_s)):
        if is_ending() or time.monotonic() >= deadline_s:
            raise PeerTimeoutError(f"no node offers {client.srv_name}")

    def is_vain() -> bool:
        return is_ending() and not client.service_is_ready()

    return result_of(client.call_async(request), timeout_s, client.srv_name, is_vain)


def service_name(kind: Any) -> str:
    """Return the name of a service, which is that of its class: find_objects of FindObjects."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower()


class ServiceClients:
    """Clients of services of one node.

    Args:
        node: the node that asks; other threads spin it.
        peer: the name of the node that serves.
        kinds: the services' classes.
        is_ending: whether the node that asks is to end; from then on only services that are offered are waited for.
    """

    def __init__(self, node: Node, peer: str, kinds: tuple[Any, ...], is_ending: Callable[[], bool]) -> None:
        group = ReentrantCallbackGroup()
        self._is_ending = is_ending
        self._clients = {
            kind.Request: node.create_client(kind, f"{peer}/{service_name(kind)}", callback_group=group)
            for kind in kinds
        }

    def of(self, request_kind: Any) -> Any:
        """Return the client that takes requests of a class."""
        return self._clients[request_kind]

    def call(self, request: Any, timeout_s: float) -> Any:
        """Return the response.

        Raises:
            PeerTimeoutError: see `answer_of`.
        """
        return answer_of(self.of(type(request)), request, timeout_s, self._is_ending)

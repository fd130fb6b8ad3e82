"""Calls services of another node, each by the class of its request and with a deadline."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node

from memory_node.nodes.waiting import answer_of


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

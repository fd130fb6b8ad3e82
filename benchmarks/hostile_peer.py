"""The attacker of `bench hostile`: finds what our nodes offer, and sends malformed messages to each of it."""

from __future__ import annotations

import contextlib
import importlib
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import numpy as np
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from benchmarks.hostile_values import messages
from memory_node.domain.errors import RobotMemoryError
from memory_node.nodes.run import activate_ros

# Deadline of an answer to a malformed request: the same as for a valid one (s).
_ANSWER_LIMIT_S = 20.0
# A node that is just starting is asked again after so long.
_FIRST_ANSWER_S = 5.0
_DISCOVERY_S = 1.0
# Of a message that had no answer, so many characters are told.
_TOLD = 300
_GOALS_IN_A_ROW = 3
# The one service that takes a node out of work by its nature.
_NOT_ASKED = ("change_state",)


@dataclass(frozen=True)
class _Address:
    """Something that a node offers.

    messages: what is sent there. send: sends one; returns whether it was answered. most: so many in a row; the goal of
    an action may take seconds until it has ended.
    """

    messages: st.SearchStrategy[Any]
    send: Callable[[Any], bool]
    most: int = 1_000


class Call:
    """Something that was asked; what: in words. It may be answered after nobody waits for it any more."""

    def __init__(self, what: str, future: Any) -> None:
        self._what = what
        self._asked_s = time.monotonic()
        self._took_s: float | None = None
        self._done = threading.Event()
        future.add_done_callback(self._end)

    def wait(self, limit_s: float) -> bool:
        """Return whether it is answered within so many seconds."""
        return self._done.wait(limit_s)

    def __str__(self) -> str:
        took = "no answer so far" if self._took_s is None else f"answered after {self._took_s:.1f} s"
        return f"{self._what}: {took}"

    def _end(self, _: object) -> None:
        self._took_s = time.monotonic() - self._asked_s
        self._done.set()


class HostilePeer:
    """A node that talks to every topic, service, action and parameter of the nodes that it was shown.

    Attributes:
        last_sent: the last message, shortened.
        troubles: what the nodes' /diagnostics told of threads and callbacks, by component.
        overdue: the calls that were not answered in time; each says whether an answer came later.
    """

    def __init__(self, domain_id: int, seed_number: int) -> None:
        activate_ros()
        from diagnostic_msgs.msg import DiagnosticArray

        from memory_node.nodes.connected_memory import joined

        self._open = contextlib.ExitStack()
        self._node = self._open.enter_context(joined("hostile_peer", domain_id))
        self._node.create_subscription(DiagnosticArray, "/diagnostics", self._on_diagnostics, 100)
        self._rng = np.random.default_rng(seed_number)
        self._addresses: dict[str, _Address] = {}
        self._clients: dict[str, Any] = {}
        self.last_sent = ""
        self.troubles: dict[str, str] = {}
        self.overdue: list[Call] = []

    def __enter__(self) -> HostilePeer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()

    def meet(self, full_name: str, limit_s: float) -> None:
        """Wait until a node is there and answers, and take up what it offers.

        Raises:
            RobotMemoryError: it is not there, or does not answer, in time.
        """
        deadline_s = time.monotonic() + limit_s
        while not (self._is_there(full_name) and self._question(full_name).wait(_FIRST_ANSWER_S)):
            if time.monotonic() > deadline_s:
                raise RobotMemoryError(f"the node {full_name} did not come up within {limit_s:g} s")
            time.sleep(0.2)
        time.sleep(_DISCOVERY_S)  # what it offers is announced one by one
        self._take_up(full_name)

    def is_answered(self, full_name: str) -> bool:
        """Return whether a node answers a sensible question in time."""
        return self._is_done(self._question(full_name))

    def send(self, count: int) -> tuple[int, int]:
        """Send so many messages to something that is offered; return how many went out, and how many had no answer."""
        name = sorted(self._addresses)[int(self._rng.integers(len(self._addresses)))]
        address, sent, unanswered = self._addresses[name], 0, 0

        @seed(int(self._rng.integers(2**31)))
        @settings(
            max_examples=min(count, address.most),
            phases=[Phase.generate],
            database=None,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        )
        @given(address.messages)
        def send_one(message: Any) -> None:
            nonlocal sent, unanswered
            self.last_sent = f"{name} {message}"[:2_000]
            try:
                answered = address.send(message)
            except (ValueError, TypeError, OverflowError, AssertionError):
                return  # what this peer's own middleware refuses to send has reached nobody
            sent += 1
            unanswered += not answered

        send_one()
        return sent, unanswered

    def _question(self, full_name: str) -> Call:
        """Ask memory where a mug is, others what they are set to."""
        from rcl_interfaces.srv import ListParameters
        from robot_memory.srv import FindObjects

        if full_name == "/memory":
            client = self._client(FindObjects, "/memory/find_objects")
            return Call("where a mug is", client.call_async(FindObjects.Request(object_class="Mug")))
        name = f"{full_name}/list_parameters"
        return Call(f"sensible {name}", self._client(ListParameters, name).call_async(ListParameters.Request()))

    def _is_there(self, full_name: str) -> bool:
        space, _, name = full_name.rpartition("/")
        if (name, space or "/") not in self._node.get_node_names_and_namespaces():
            return False
        offered = self._node.get_service_names_and_types_by_node(name, space or "/")
        return any(service.endswith("/list_parameters") for service, _ in offered)

    def _take_up(self, full_name: str) -> None:
        from rclpy.action import get_action_server_names_and_types_by_node

        space, _, name = full_name.rpartition("/")
        for topic, types in self._node.get_subscriber_names_and_types_by_node(name, space or "/"):
            if "/_action/" not in topic:
                self._addresses.setdefault(topic, self._topic(topic, _interface(types[0])))
        for service, types in self._node.get_service_names_and_types_by_node(name, space or "/"):
            if "/_action/" not in service and not service.endswith(_NOT_ASKED):
                self._addresses.setdefault(service, self._service(service, _interface(types[0])))
        for action, types in get_action_server_names_and_types_by_node(self._node, name, space or "/"):
            if action not in self._addresses:
                self._addresses[action] = self._action(action, _interface(types[0]))

    def _topic(self, name: str, kind: Any) -> _Address:
        from memory_node.nodes.qos import LATCHED

        # Heard by those who ask for latched messages, too, and by a node that starts later.
        publisher = self._node.create_publisher(kind, name, LATCHED)

        def send(message: Any) -> bool:
            publisher.publish(message)
            return True

        return _Address(messages(kind), send)

    def _service(self, name: str, kind: Any) -> _Address:
        client = self._client(kind, name)

        def send(request: Any) -> bool:
            return self._is_done(Call(self.last_sent[:_TOLD], client.call_async(request)))

        return _Address(messages(kind.Request), send)

    def _action(self, name: str, kind: Any) -> _Address:
        from rclpy.action import ActionClient

        client = ActionClient(self._node, kind, name)

        def send(goal: Any) -> bool:
            accepted, told = client.send_goal_async(goal), self.last_sent[:_TOLD]
            if not self._is_done(Call(f"goal {told}", accepted)):
                return False
            handle = accepted.result()
            return not handle.accepted or (
                self._is_done(Call(f"cancelling {told}", handle.cancel_goal_async()))
                and self._is_done(Call(f"the result of {told}", handle.get_result_async()))
            )

        return _Address(messages(kind.Goal), send, _GOALS_IN_A_ROW)

    def _client(self, kind: Any, name: str) -> Any:
        if name not in self._clients:
            self._clients[name] = self._node.create_client(kind, name)
        return self._clients[name]

    def _is_done(self, call: Call) -> bool:
        is_done = call.wait(_ANSWER_LIMIT_S)
        if not is_done:
            self.overdue.append(call)
        return is_done

    def _on_diagnostics(self, message: Any) -> None:
        for status in message.status:
            if status.name.endswith((": threads", ": callbacks")) and status.message != "ok":
                self.troubles[status.name] = status.message


def _interface(type_name: str) -> Any:
    """Return the class of "robot_memory/srv/FindObjects"."""
    package, kind, name = type_name.split("/")
    return getattr(importlib.import_module(f"{package}.{kind}"), name)

"""Declares commands, and holds what they share: a node that knows the graph, service calls, values in YAML."""

from __future__ import annotations

import argparse
import math
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import yaml

from ros_embedded import rclpy
from ros_embedded.interfaces import get_service
from ros_embedded.rosidl_runtime_py import set_message_fields

NamesAndTypes = list[tuple[str, list[str]]]
SERVICE_TIMEOUT_S = 5.0
_QUIET_S, _LONGEST_S = 0.5, 3.0


class CommandError(Exception):
    """A command failed; the message is printed to the user."""


class Command(NamedTuple):
    """A command: its function, its arguments, and whether the function gets a node that knows the graph."""

    run: Callable[[Any, argparse.Namespace], None]
    help_text: str
    arguments: tuple[tuple[tuple[str, ...], dict[str, Any]], ...]
    needs_node: bool
    needs_graph: bool


COMMANDS: dict[str, Command] = {}


def argument(*names: str, **options: Any) -> tuple[tuple[str, ...], dict[str, Any]]:
    """An argument of a command, as for argparse."""
    return names, options


def flag(*names: str, **options: Any) -> tuple[tuple[str, ...], dict[str, Any]]:
    """A switch without a value, as for argparse."""
    return names, {"action": "store_true", **options}


def above_zero(text: str) -> float:
    """A number, for argparse. Raises ValueError unless it is above 0."""
    if not float(text) > 0.0:
        raise ValueError
    return float(text)


def command(name: str, help_text: str, *arguments: Any, needs_node: bool = True, needs_graph: bool = True) -> Any:
    """Declare the decorated function, to be given a node and the parsed arguments, as a command such as `topic hz`."""

    def declare(run: Callable[[Any, argparse.Namespace], None]) -> Any:
        COMMANDS[name] = Command(run, help_text, arguments, needs_node, needs_graph)
        return run

    return declare


@contextmanager
def graph_node(spin_time_s: float | None) -> Iterator[Any]:
    """A hidden node that has discovered the graph: for a time, or until nothing new has come for half a second."""
    rclpy.init(args=[], signal_handler_options=rclpy.SignalHandlerOptions.NO)
    node = rclpy.create_node(
        f"_ros2cli_{os.getpid()}",
        start_parameter_services=False,
        enable_rosout=False,
    )
    try:
        if spin_time_s is not None:
            time.sleep(spin_time_s)
        else:
            _wait_until_quiet(node)
        yield node
    finally:
        node.destroy_node()
        rclpy.try_shutdown()


def _wait_until_quiet(node: Any) -> None:
    begin_s = changed_s = time.monotonic()
    seen: Any = None
    while time.monotonic() - changed_s < _QUIET_S and time.monotonic() - begin_s < _LONGEST_S:
        time.sleep(0.05)
        now = (node.get_topic_names_and_types(), node.get_service_names_and_types(), node.get_node_names())
        if now != seen:
            seen, changed_s = now, time.monotonic()


def find_node(node: Any, name: str) -> tuple[str, str]:
    """Name and namespace of a node of the graph. Raises CommandError."""
    for found in node.get_node_names_and_namespaces():
        if full_name(*found) == absolute(name):
            return found
    raise CommandError(f"Unable to find node '{name}'")


def full_name(name: str, namespace: str) -> str:
    """A node's name with its namespace."""
    return f"{namespace.rstrip('/')}/{name}"


def absolute(name: str) -> str:
    """The name with a leading slash, which users may leave out."""
    return name if name.startswith("/") else f"/{name}"


def is_hidden(name: str) -> bool:
    """Whether lists leave out a topic, service, node or action, as ROS 2 does."""
    return any(part.startswith("_") for part in name.split("/"))


def known_types(kind: str, found: NamesAndTypes, name: str) -> list[str]:
    """The types of a topic, service or action of the graph. Raises CommandError if there is none of that name."""
    types = dict(found).get(absolute(name))
    if not types:
        raise CommandError(f"Unknown {kind} '{name}'")
    return types


def ask(node: Any, name: str, service: str, **fields: Any) -> Any:
    """Call a service of the node `name`, such as `lifecycle_msgs/get_state`. Raises CommandError after 5 s."""
    package, _, service = service.partition("/")
    kind = get_service(f"{package}/srv/{service.title().replace('_', '')}")
    client = node.create_client(kind, f"{name}/{service}")
    try:
        if not client.wait_for_service(timeout_sec=SERVICE_TIMEOUT_S):
            raise CommandError(f"Wait for service timed out waiting for {name}/{service}")
        answer = client.call_async(kind.Request(**fields))
        return await_future(node, answer, f"{name}/{service} did not answer", SERVICE_TIMEOUT_S)
    finally:
        node.destroy_client(client)


def await_future(node: Any, future: Any, problem: str, timeout_s: float | None = None) -> Any:
    """Spin until a future is done. Raises CommandError with the problem if it is not in time."""
    spin(node, future, timeout_s)
    if not future.done():
        raise CommandError(problem)
    return future.result()


def spin(node: Any, future: Any, timeout_s: float | None = None) -> None:
    """Spin until a future is done or the time is up, in short turns: Ctrl-C is only heard between them."""
    end_s = math.inf if timeout_s is None else time.monotonic() + timeout_s
    while not future.done() and time.monotonic() < end_s:
        rclpy.spin_until_future_complete(node, future, timeout_sec=min(0.2, max(0.0, end_s - time.monotonic())))


def fill(message: Any, text: str) -> None:
    """Set a message's fields from YAML. Raises CommandError."""
    try:
        values = yaml.safe_load(text)
        set_message_fields(message, {} if values is None else values)
    except (AttributeError, TypeError, ValueError, AssertionError, OverflowError, yaml.YAMLError) as error:
        raise CommandError(f"Failed to populate field: {error}") from error

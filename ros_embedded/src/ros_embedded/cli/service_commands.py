"""`service call`, `service info` and `service echo`."""

from __future__ import annotations

import argparse
import re
import time
from typing import Any

from ros_embedded import rclpy
from ros_embedded.cli.command import (
    TEXT_ARGUMENTS,
    CommandError,
    above_zero,
    absolute,
    argument,
    await_future,
    command,
    fill,
    known_types,
    message_text,
    spin,
)
from ros_embedded.interfaces import get_service
from ros_embedded.rclpy.qos import qos_profile_services_default


@command(
    "service call",
    "Call a service",
    argument("service_name"),
    argument("service_type"),
    argument("values", nargs="?", default="{}", help="the request in YAML"),
    argument("-r", "--rate", type=above_zero, help="repeat the call, so many times a second"),
    needs_graph=False,
)
def _call(node: Any, arguments: argparse.Namespace) -> None:
    service = get_service(arguments.service_type)
    request = service.Request()
    fill(request, arguments.values)
    client = node.create_client(service, absolute(arguments.service_name))
    if not client.service_is_ready():
        print("waiting for service to become available...", flush=True)
        client.wait_for_service()
    while rclpy.ok():
        begin_s = time.monotonic()
        print(f"requester: making request: {request!r}\n", flush=True)
        response = await_future(node, client.call_async(request), "interrupted")
        print(f"response:\n{response!r}\n", flush=True)
        if not arguments.rate:
            return
        time.sleep(max(0.0, begin_s + 1.0 / arguments.rate - time.monotonic()))


@command("service info", "Print information about a service", argument("service_name"))
def _info(node: Any, arguments: argparse.Namespace) -> None:
    name = absolute(arguments.service_name)
    types = known_types("service", node.get_service_names_and_types(), arguments.service_name)
    print(f"Type: {types[0] if len(types) == 1 else types}")
    print(f"Clients count: {node.count_clients(name)}\nServices count: {node.count_services(name)}")


_EVENT_TYPES = ("REQUEST_SENT", "REQUEST_RECEIVED", "RESPONSE_SENT", "RESPONSE_RECEIVED")
_TYPE = re.compile(r"^(\W*info:\W*event_type: )([0-3])")  # the first lines of an event's YAML


@command(
    "service echo",
    "Echo what an introspected service and its clients send and receive",
    argument("service_name"),
    argument("service_type", nargs="?"),
    *TEXT_ARGUMENTS,
)
def _echo(node: Any, arguments: argparse.Namespace) -> None:
    name = absolute(arguments.service_name)
    types = [arguments.service_type] if arguments.service_type else dict(node.get_service_names_and_types()).get(name)
    if not types:
        raise CommandError(f"Cannot find type for '{name}'")
    service = get_service(types[0])
    topic = f"{name}/_service_event"
    if node.count_publishers(topic) == 0:
        hint = "is service introspection on the client or server enabled?"
        print(f"No publishers on topic '{topic}'; {hint}", flush=True)

    def show(event: Any) -> None:
        text = message_text(event, arguments)
        print(_TYPE.sub(lambda match: match[1] + _EVENT_TYPES[int(match[2])], text), flush=True)

    node.create_subscription(service.Event, topic, show, qos_profile_services_default)
    spin(node, rclpy.Future())

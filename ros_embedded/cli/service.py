"""`service`: which services there are, and calling them."""

from __future__ import annotations

import argparse
import time
from typing import Any

from ros_embedded import rclpy
from ros_embedded.cli.command import (
    CommandError,
    absolute,
    add_command,
    add_group,
    await_future,
    fill,
    graph_node,
    is_hidden,
    print_names,
)
from ros_embedded.interfaces import get_service


def add_commands(groups: Any) -> None:
    """Add the group and its commands."""
    group = add_group(groups, "service", "Various service related sub-commands")
    listing = add_command(group, "list", _list, "Output a list of available services")
    listing.add_argument("-t", "--show-types", action="store_true", help="also show the types")
    listing.add_argument("-c", "--count-services", action="store_true", help="only show how many there are")
    listing.add_argument("--include-hidden-services", action="store_true", help="hidden services too")
    add_command(group, "type", _type, "Output a service's type").add_argument("service_name")
    add_command(group, "find", _find, "Output a list of services of a given type").add_argument("service_type")
    call = add_command(group, "call", _call, "Call a service")
    call.add_argument("service_name")
    call.add_argument("service_type")
    call.add_argument("values", nargs="?", default="{}", help="the request in YAML")
    call.add_argument("-r", "--rate", type=float, help="repeat the call, so many times a second")


def _list(arguments: argparse.Namespace) -> None:
    with graph_node(arguments) as node:
        services = node.get_service_names_and_types()
    shown = [service for service in services if arguments.include_hidden_services or not is_hidden(service[0])]
    if arguments.count_services:
        print(len(shown))
    else:
        print_names(shown, arguments.show_types)


def _type(arguments: argparse.Namespace) -> None:
    with graph_node(arguments) as node:
        types = dict(node.get_service_names_and_types()).get(absolute(arguments.service_name))
    if not types:
        raise CommandError(f"Unknown service '{arguments.service_name}'")
    print("\n".join(types))


def _find(arguments: argparse.Namespace) -> None:
    with graph_node(arguments) as node:
        services = node.get_service_names_and_types()
    print_names([(name, types) for name, types in services if arguments.service_type in types], shows_types=False)


def _call(arguments: argparse.Namespace) -> None:
    service = get_service(arguments.service_type)
    request = service.Request()
    fill(request, arguments.values)
    arguments.spin_time = arguments.spin_time or 0.0
    with graph_node(arguments) as node:
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

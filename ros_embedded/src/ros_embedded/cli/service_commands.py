"""`service call`."""

from __future__ import annotations

import argparse
from typing import Any

from ros_embedded.cli.command import absolute, argument, await_future, command, fill
from ros_embedded.interfaces import get_service


@command(
    "service call",
    "Call a service",
    argument("service_name"),
    argument("service_type"),
    argument("values", nargs="?", default="{}", help="the request in YAML"),
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
    print(f"requester: making request: {request!r}\n", flush=True)
    response = await_future(node, client.call_async(request), "interrupted")
    print(f"response:\n{response!r}\n", flush=True)

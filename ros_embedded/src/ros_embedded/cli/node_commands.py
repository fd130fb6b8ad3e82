"""`node list` and `node info`."""

from __future__ import annotations

import argparse
from typing import Any

from ros_embedded.cli.command import argument, command, find_node, flag, full_name, is_hidden
from ros_embedded.rclpy import action


@command(
    "node list",
    "Output a list of available nodes",
    flag("-a", "--all", help="hidden nodes too"),
    flag("-c", "--count-nodes", help="only show how many there are"),
)
def _list(node: Any, arguments: argparse.Namespace) -> None:
    names = sorted(node.get_fully_qualified_node_names())
    shown = [name for name in names if arguments.all or not is_hidden(name)]
    print(len(shown) if arguments.count_nodes else "\n".join(shown))


@command(
    "node info",
    "Output information about a node",
    argument("node_name"),
    flag("--include-hidden", help="hidden topics, services and actions too"),
)
def _info(node: Any, arguments: argparse.Namespace) -> None:
    found = find_node(node, arguments.node_name)
    print(full_name(*found))
    for title, names_and_types in (
        ("Subscribers", node.get_subscriber_names_and_types_by_node(*found)),
        ("Publishers", node.get_publisher_names_and_types_by_node(*found)),
        ("Service Servers", node.get_service_names_and_types_by_node(*found)),
        ("Service Clients", node.get_client_names_and_types_by_node(*found)),
        ("Action Servers", action.get_action_server_names_and_types_by_node(node, *found)),
        ("Action Clients", action.get_action_client_names_and_types_by_node(node, *found)),
    ):
        lines = [
            f"    {name}: {', '.join(types)}"
            for name, types in sorted(names_and_types)
            if arguments.include_hidden or not is_hidden(name)
        ]
        print(f"  {title}:", *lines or [""], sep="\n")

"""`node`: who is there and what it offers."""

from __future__ import annotations

import argparse
from typing import Any

from ros_embedded.cli.command import add_command, add_group, find_node, full_name, graph_node, is_hidden


def add_commands(groups: Any) -> None:
    """Add the group and its commands."""
    group = add_group(groups, "node", "Various node related sub-commands")
    listing = add_command(group, "list", _list, "Output a list of available nodes")
    listing.add_argument("-a", "--all", action="store_true", help="hidden nodes too")
    listing.add_argument("-c", "--count-nodes", action="store_true", help="only show how many there are")
    info = add_command(group, "info", _info, "Output information about a node")
    info.add_argument("node_name")
    info.add_argument("--include-hidden", action="store_true", help="hidden topics, services and actions too")


def _list(arguments: argparse.Namespace) -> None:
    with graph_node(arguments) as node:
        names = sorted(full_name(*found) for found in node.get_node_names_and_namespaces())
    shown = [name for name in names if arguments.all or not is_hidden(name)]
    print(len(shown) if arguments.count_nodes else "\n".join(shown))


def _info(arguments: argparse.Namespace) -> None:
    from ros_embedded.rclpy.action import (
        get_action_client_names_and_types_by_node,
        get_action_server_names_and_types_by_node,
    )

    with graph_node(arguments) as node:
        found = find_node(node, arguments.node_name)
        print(full_name(*found))
        for title, names_and_types in (
            ("Subscribers", node.get_subscriber_names_and_types_by_node(*found)),
            ("Publishers", node.get_publisher_names_and_types_by_node(*found)),
            ("Service Servers", node.get_service_names_and_types_by_node(*found)),
            ("Service Clients", node.get_client_names_and_types_by_node(*found)),
            ("Action Servers", get_action_server_names_and_types_by_node(node, *found)),
            ("Action Clients", get_action_client_names_and_types_by_node(node, *found)),
        ):
            print(f"  {title}:")
            for name, types in sorted(names_and_types):
                if arguments.include_hidden or not is_hidden(name):
                    print(f"    {name}: {', '.join(types)}")

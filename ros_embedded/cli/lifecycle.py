"""`lifecycle`: states and transitions of managed nodes."""

from __future__ import annotations

import argparse
from typing import Any

from ros_embedded.cli.command import (
    CommandError,
    add_command,
    add_group,
    call_service,
    find_node,
    full_name,
    graph_node,
)
from ros_embedded.interfaces import get_service


def add_commands(groups: Any) -> None:
    """Add the group and its commands."""
    group = add_group(groups, "lifecycle", "Various lifecycle related sub-commands")
    add_command(group, "nodes", _nodes, "Output a list of nodes with lifecycle")
    add_command(group, "get", _get, "Get lifecycle state for one or more nodes").add_argument("node_name", nargs="?")
    add_command(group, "list", _list, "Output a list of available transitions").add_argument("node_name")
    set_ = add_command(group, "set", _set, "Trigger lifecycle state transition")
    set_.add_argument("node_name")
    set_.add_argument("transition", help="its label or number")


def _nodes(arguments: argparse.Namespace) -> None:
    with graph_node(arguments) as node:
        print("\n".join(_lifecycle_nodes(node)))


def _get(arguments: argparse.Namespace) -> None:
    service = get_service("lifecycle_msgs/srv/GetState")
    with graph_node(arguments) as node:
        one = [full_name(*find_node(node, arguments.node_name))] if arguments.node_name else None
        for name in one or _lifecycle_nodes(node):
            state = call_service(node, service, f"{name}/get_state", service.Request()).current_state
            print(f"{'' if one else f'{name}: '}{state.label} [{state.id}]")


def _list(arguments: argparse.Namespace) -> None:
    with graph_node(arguments) as node:
        for each in _transitions(node, full_name(*find_node(node, arguments.node_name))):
            print(f"- {each.transition.label} [{each.transition.id}]")
            print(f"\tStart: {each.start_state.label}\n\tGoal: {each.goal_state.label}")


def _set(arguments: argparse.Namespace) -> None:
    service = get_service("lifecycle_msgs/srv/ChangeState")
    with graph_node(arguments) as node:
        name = full_name(*find_node(node, arguments.node_name))
        known = [each.transition for each in _transitions(node, name)]
        chosen = [each for each in known if arguments.transition in (each.label, str(each.id))]
        if not chosen:
            listed = "".join(f"\n- {each.label} [{each.id}]" for each in known)
            raise CommandError(f"Unknown transition requested, available ones are:{listed}")
        request = service.Request(transition=chosen[0])
        if not call_service(node, service, f"{name}/change_state", request).success:
            raise CommandError("Transitioning failed")
    print("Transitioning successful")


def _lifecycle_nodes(node: Any) -> list[str]:
    services = node.get_service_names_and_types()
    return sorted(name.removesuffix("/get_state") for name, types in services if "lifecycle_msgs/srv/GetState" in types)


def _transitions(node: Any, name: str) -> list[Any]:
    service = get_service("lifecycle_msgs/srv/GetAvailableTransitions")
    response = call_service(node, service, f"{name}/get_available_transitions", service.Request())
    return response.available_transitions

"""`lifecycle`: states and transitions of managed nodes."""

from __future__ import annotations

import argparse
from typing import Any

from ros_embedded.cli.command import CommandError, argument, ask, command, find_node, full_name

_NODE = argument("node_name")


def _lifecycle_nodes(node: Any) -> list[str]:
    return sorted(
        full_name(*found)
        for found in set(node.get_node_names_and_namespaces())
        if any(name.endswith("/get_state") for name, _ in node.get_service_names_and_types_by_node(*found))
    )


@command("lifecycle nodes", "Output a list of nodes with lifecycle")
def _nodes(node: Any, arguments: argparse.Namespace) -> None:
    print("\n".join(_lifecycle_nodes(node)))


@command("lifecycle get", "Get lifecycle state for one or more nodes", argument("node_name", nargs="?"))
def _get(node: Any, arguments: argparse.Namespace) -> None:
    one = [full_name(*find_node(node, arguments.node_name))] if arguments.node_name else None
    for name in one or _lifecycle_nodes(node):
        state = ask(node, name, "lifecycle_msgs/get_state").current_state
        print(f"{'' if one else f'{name}: '}{state.label} [{state.id}]")


@command(
    "lifecycle set", "Trigger lifecycle state transition", _NODE, argument("transition", help="its label or number")
)
def _set(node: Any, arguments: argparse.Namespace) -> None:
    name = full_name(*find_node(node, arguments.node_name))
    answer = ask(node, name, "lifecycle_msgs/get_available_transitions")
    known = [each.transition for each in answer.available_transitions]
    chosen = [each for each in known if arguments.transition in (each.label, str(each.id))]
    if not chosen:
        listed = "".join(f"\n- {each.label} [{each.id}]" for each in known)
        raise CommandError(f"Unknown transition requested, available ones are:{listed}")
    if not ask(node, name, "lifecycle_msgs/change_state", transition=chosen[0]).success:
        raise CommandError("Transitioning failed")
    print("Transitioning successful")

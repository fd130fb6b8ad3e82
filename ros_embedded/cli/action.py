"""`action`: which actions there are, and sending goals."""

from __future__ import annotations

import argparse
from typing import Any

from ros_embedded.cli.command import (
    absolute,
    add_command,
    add_group,
    await_future,
    fill,
    full_name,
    graph_node,
    is_hidden,
    print_names,
)
from ros_embedded.interfaces import get_action
from ros_embedded.rclpy.action import (
    ActionClient,
    get_action_client_names_and_types_by_node,
    get_action_names_and_types,
    get_action_server_names_and_types_by_node,
)
from ros_embedded.rosidl_runtime_py import message_to_yaml

_STATUSES = ("UNKNOWN", "ACCEPTED", "EXECUTING", "CANCELING", "SUCCEEDED", "CANCELED", "ABORTED")


def add_commands(groups: Any) -> None:
    """Add the group and its commands."""
    group = add_group(groups, "action", "Various action related sub-commands")
    listing = add_command(group, "list", _list, "Output a list of action names")
    listing.add_argument("-t", "--show-types", action="store_true", help="also show the types")
    listing.add_argument("-c", "--count-actions", action="store_true", help="only show how many there are")
    info = add_command(group, "info", _info, "Print information about an action")
    info.add_argument("action_name")
    info.add_argument("-t", "--show-types", action="store_true", help="also show the types")
    send = add_command(group, "send_goal", _send_goal, "Send an action goal")
    send.add_argument("action_name")
    send.add_argument("action_type")
    send.add_argument("goal", nargs="?", default="{}", help="the goal in YAML")
    send.add_argument("-f", "--feedback", action="store_true", help="show feedback")


def _list(arguments: argparse.Namespace) -> None:
    with graph_node(arguments) as node:
        actions = get_action_names_and_types(node)
    if arguments.count_actions:
        print(len(actions))
    else:
        print_names(actions, arguments.show_types)


def _info(arguments: argparse.Namespace) -> None:
    wanted = absolute(arguments.action_name)
    with graph_node(arguments) as node:
        nodes = [found for found in node.get_node_names_and_namespaces() if not is_hidden(full_name(*found))]
        print(f"Action: {wanted}")
        for title, ask in (
            ("clients", get_action_client_names_and_types_by_node),
            ("servers", get_action_server_names_and_types_by_node),
        ):
            answers = {full_name(*found): dict(ask(node, *found)) for found in nodes}
            of_action = {name: types[wanted] for name, types in answers.items() if wanted in types}
            print(f"Action {title}: {len(of_action)}")
            for name, types in of_action.items():
                print(f"    {name} [{', '.join(types)}]" if arguments.show_types else f"    {name}")


def _send_goal(arguments: argparse.Namespace) -> None:
    action = get_action(arguments.action_type)
    goal = action.Goal()
    fill(goal, arguments.goal)
    arguments.spin_time = arguments.spin_time or 0.0
    with graph_node(arguments) as node:
        client = ActionClient(node, action, absolute(arguments.action_name))
        try:
            print("Waiting for an action server to become available...", flush=True)
            client.wait_for_server()
            print(f"Sending goal:\n     {message_to_yaml(goal)}", flush=True)
            _follow_goal(node, client, goal, _show_feedback if arguments.feedback else None)
        finally:
            client.destroy()


def _show_feedback(message: Any) -> None:
    print(f"Feedback:\n    {message_to_yaml(message.feedback)}", flush=True)


def _follow_goal(node: Any, client: Any, goal: Any, feedback: Any) -> None:
    """Send a goal and show its result; an interruption cancels it."""
    handle = await_future(node, client.send_goal_async(goal, feedback), "interrupted")
    if not handle.accepted:
        print("Goal was rejected.")
        return
    print(f"Goal accepted with ID: {bytes(handle.goal_id.uuid).hex()}\n", flush=True)
    try:
        result = await_future(node, handle.get_result_async(), "interrupted")
    except KeyboardInterrupt:
        print("Canceling goal...", flush=True)
        response = await_future(node, handle.cancel_goal_async(), "the goal could not be canceled", 5.0)
        print("Goal canceled." if response.goals_canceling else "Failed to cancel goal")
        raise
    print(f"Result:\n    {message_to_yaml(result.result)}")
    status = _STATUSES[result.status] if 0 <= result.status < len(_STATUSES) else _STATUSES[0]
    print(f"Goal finished with status: {status}")

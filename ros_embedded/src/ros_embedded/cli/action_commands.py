"""`action info` and `action send_goal`."""

from __future__ import annotations

import argparse
from typing import Any

from ros_embedded.cli.command import absolute, argument, await_future, command, fill, flag
from ros_embedded.interfaces import get_action, get_message
from ros_embedded.rclpy import action as actions
from ros_embedded.rosidl_runtime_py import message_to_yaml


@command(
    "action send_goal",
    "Send an action goal",
    argument("action_name"),
    argument("action_type"),
    argument("goal", nargs="?", default="{}", help="the goal in YAML"),
    flag("-f", "--feedback", help="show feedback"),
    needs_graph=False,
)
def _send_goal(node: Any, arguments: argparse.Namespace) -> None:
    action = get_action(arguments.action_type)
    goal = action.Goal()
    fill(goal, arguments.goal)
    client = actions.ActionClient(node, action, absolute(arguments.action_name))
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
    statuses = get_message("action_msgs/msg/GoalStatus")
    known = {getattr(statuses, name): name for name in dir(statuses) if name.startswith("STATUS_")}
    print(f"Goal finished with status: {known.get(result.status, 'STATUS_UNKNOWN').removeprefix('STATUS_')}")

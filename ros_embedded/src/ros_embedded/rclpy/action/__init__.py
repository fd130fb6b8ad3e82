"""Actions: goals that take time, with feedback, cancellation and a result."""
# ruff: noqa: F401 - the imported names are the API

from ros_embedded.rclpy.action.client import ActionClient
from ros_embedded.rclpy.action.graph import (
    get_action_client_names_and_types_by_node,
    get_action_names_and_types,
    get_action_server_names_and_types_by_node,
)
from ros_embedded.rclpy.action.server import ActionServer, CancelResponse, GoalResponse

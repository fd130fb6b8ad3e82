"""Checks that a class is a ROS interface."""

from __future__ import annotations

from typing import Any

from ros_embedded.rclpy.exceptions import NoTypeSupportImportedException


def check_for_type_support(msg_or_srv_type: Any) -> None:
    """Raises AttributeError for a class that is no interface, NoTypeSupportImportedException for an abstract one."""
    if not isinstance(getattr(msg_or_srv_type, "_TYPE_NAME", None), str):
        if not hasattr(msg_or_srv_type, "_TYPE_SUPPORT"):
            raise AttributeError(
                f"type object '{type(msg_or_srv_type).__name__}' has no attribute '_TYPE_SUPPORT' "
                "This might be a ROS 1 message type but it should be a ROS 2 message type. "
                "Make sure to source your ROS 2 workspace after your ROS 1 workspace."
            )
        raise NoTypeSupportImportedException
    return None


def check_is_valid_msg_type(msg_type: Any) -> None:
    """Raises RuntimeError if it is no message."""
    check_for_type_support(msg_type)
    if hasattr(msg_type, "Request") or hasattr(msg_type, "Goal"):
        raise RuntimeError(f"The message type provided is not valid ({msg_type}), this might be a service or action")


def check_is_valid_srv_type(srv_type: Any) -> None:
    """Raises RuntimeError if it is no service."""
    check_for_type_support(srv_type)
    if not (hasattr(srv_type, "Request") and hasattr(srv_type, "Response")):
        raise RuntimeError(f"The service type provided is not valid ({srv_type}), this might be a message or action")

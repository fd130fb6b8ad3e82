"""ROS interfaces without ROS: classes, CDR bytes, type hashes and descriptions, all from the definitions."""

from ros_embedded.interfaces.lookup import InterfaceNotFoundError, add_interface_folder
from ros_embedded.interfaces.parser import InterfaceSyntaxError
from ros_embedded.interfaces.registry import get_action, get_message, get_service

__all__ = [
    "InterfaceNotFoundError",
    "InterfaceSyntaxError",
    "add_interface_folder",
    "get_action",
    "get_message",
    "get_service",
]

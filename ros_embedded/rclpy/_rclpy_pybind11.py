"""Errors under the name of rclpy's C++ extension, from which nodes import them."""

from ros_embedded.rclpy.exceptions import InvalidHandle, NodeNameNonExistentError, RCLError, UnsupportedEventTypeError
from ros_embedded.rclpy.impl.arguments import RCLInvalidROSArgsError, UnknownROSArgsError

__all__ = [
    "InvalidHandle",
    "NodeNameNonExistentError",
    "RCLError",
    "RCLInvalidROSArgsError",
    "UnknownROSArgsError",
    "UnsupportedEventTypeError",
]

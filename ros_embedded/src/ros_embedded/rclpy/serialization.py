"""Messages to bytes and back."""

from __future__ import annotations

from typing import Any

from ros_embedded.interfaces.cdr import deserialize, serialize
from ros_embedded.rclpy.type_support import check_for_type_support


def serialize_message(message: Any) -> bytes:
    """CDR bytes of a message, with their encapsulation header."""
    check_for_type_support(type(message))
    return bytes(serialize(message))


def deserialize_message(serialized_message: bytes, message_type: Any) -> Any:
    """The message. Raises ValueError if the bytes do not hold one."""
    check_for_type_support(message_type)
    return deserialize(serialized_message, message_type)

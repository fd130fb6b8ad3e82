"""Messages to and from CDR bytes (XCDR1, as ROS 2 sends them), by code generated for each message class.

`rosbags` generates such code as well, for classes with numpy arrays. rosidl's classes keep array.array, and bytes of
any content must be refused before memory of an announced size is allocated.
"""

from __future__ import annotations

import struct
from typing import TypeVar

from ros_embedded.interfaces.cdr_reader import reader_of
from ros_embedded.interfaces.cdr_writer import writer_of
from ros_embedded.interfaces.message_class import Message

MessageT = TypeVar("MessageT", bound=Message)
_LITTLE_ENDIAN_HEADER = b"\x00\x01\x00\x00"
_BYTE_ORDERS = {b"\x00\x01": "<", b"\x00\x00": ">"}


class SerializationError(ValueError):
    """A message that cannot be written: a field holds what its type does not allow."""


class DeserializationError(ValueError):
    """Bytes that are no message of the type asked for."""


def serialize(message: Message) -> bytearray:
    """Write a message with its 4-byte encapsulation header. Raises SerializationError."""
    out = bytearray(_LITTLE_ENDIAN_HEADER)
    try:
        writer_of(type(message))(message, out)
    except (struct.error, ValueError, TypeError, AttributeError, OverflowError) as error:
        raise SerializationError(f"{type(message).__name__} cannot be serialised: {error}") from error
    return out


def deserialize(data: bytes | bytearray | memoryview, message_class: type[MessageT]) -> MessageT:
    """Read a message with its 4-byte encapsulation header; bytes after its end are ignored, as ROS 2 does.

    Raises:
        DeserializationError: if the bytes end early, announce more elements than they hold or than the type allows,
            or are in another encoding than plain CDR.

    """
    view = memoryview(data)
    order = _BYTE_ORDERS.get(bytes(view[:2]))
    if order is None or len(view) < 4:
        raise DeserializationError(f"expected a header of plain CDR, got {bytes(view[:4]).hex()!r}")
    body = view[4:]
    try:
        message, _ = reader_of(message_class, order)(body, 0, len(body))
    except (struct.error, ValueError) as error:
        raise DeserializationError(f"{len(view)} bytes are no {message_class.__name__}: {error}") from error
    return message

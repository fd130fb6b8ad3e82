"""Reads tf2_msgs/TFMessage from its bytes, without making a message of each of its transforms."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from memory_node.domain.errors import InvalidValueError

# The encapsulation headers of plain CDR, as every middleware of ROS 2 sends it, and how `struct` names the byte order.
_ORDERS = {b"\x00\x01": "<", b"\x00\x00": ">"}
_HEADS = {order: struct.Struct(f"{order}iII") for order in _ORDERS.values()}
_COUNTS = {order: struct.Struct(f"{order}I") for order in _ORDERS.values()}
_NUMBERS = {order: struct.Struct(f"{order}7d") for order in _ORDERS.values()}
_FIRST = 8  # after the encapsulation header and the number of transforms

Place = tuple[int, bytes, bytes, int]


def byte_order(data: bytes) -> str:
    """Return the byte order of a serialised message, `<` or `>` as in `struct`.

    Raises:
        InvalidValueError: it is not plain CDR.
    """
    order = _ORDERS.get(data[:2])
    if order is None:
        raise InvalidValueError(f"message: expected plain CDR, got the header {data[:4].hex()!r}")
    return order


def transforms_in(data: bytes) -> Iterator[Place]:
    """Yield of each transform where its stamp begins, its parent and child as they are written, and where its seven
    numbers begin (x, y, z, and the quaternion's x, y, z, w).

    Raises:
        InvalidValueError: the bytes are no TFMessage.
    """
    order = byte_order(data)
    head, count = _HEADS[order].unpack_from, _COUNTS[order].unpack_from
    try:
        place = _FIRST
        for _ in range(count(data, 4)[0]):
            stamp = place + -place % 4
            length = head(data, stamp)[2]
            begin = stamp + 12
            end = begin + length
            parent = data[begin : end - 1]
            begin = end + -end % 4
            end = begin + 4 + count(data, begin)[0]
            child = data[begin + 4 : end - 1]
            numbers = end + (4 - end) % 8  # eight bytes are counted from behind the encapsulation header
            place = numbers + 56
            if place > len(data):
                raise InvalidValueError(f"message: {len(data)} bytes end within a transform")
            yield stamp, parent, child, numbers
    except struct.error as error:
        raise InvalidValueError(f"message: {len(data)} bytes are no TFMessage ({error})") from error


def stamp_at(data: bytes, place: int) -> tuple[int, int]:
    """Return seconds and nanoseconds of the stamp that begins there."""
    seconds, rest_ns, _ = _HEADS[byte_order(data)].unpack_from(data, place)
    return seconds, rest_ns


def numbers_at(data: bytes, place: int) -> tuple[float, ...]:
    """Return the seven numbers that begin there."""
    return _NUMBERS[byte_order(data)].unpack_from(data, place)

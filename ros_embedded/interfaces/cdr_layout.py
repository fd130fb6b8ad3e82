"""What the CDR writer and reader both know: where alignment is certain, and how wide characters travel."""

from __future__ import annotations

import numpy as np

from ros_embedded.interfaces.definitions import FieldType
from ros_embedded.interfaces.lookup import message_definition


class Position:
    """What generated code knows of its place in the stream: `place % known == offset`."""

    def __init__(self, known: int) -> None:
        self.known = known
        self.offset = 0

    def padding(self, alignment: int) -> int | None:
        """Bytes to skip to reach the alignment; None where that can only be computed when the code runs."""
        return None if alignment > self.known else -self.offset % alignment

    def advance(self, count: int) -> None:
        """Move by a number of bytes that is known."""
        self.offset = (self.offset + count) % self.known

    def set(self, known: int) -> None:
        """Move to a place that is only known to be a multiple of known."""
        self.known, self.offset = known, 0


def least_size_bytes(kind: FieldType) -> int:
    """The least number of bytes that one element takes: it bounds how many can be in what is left of a stream."""
    if kind.is_string:
        return 4
    if kind.primitive is not None:
        return kind.primitive.size_bytes
    total = 0
    for field in message_definition(kind.name).wire_fields:
        if field.type.array in ("bounded", "unbounded"):
            total += 4
        else:
            total += least_size_bytes(field.type.element) * max(field.type.size, 1)
    return max(total, 1)


def wide_to_bytes(text: str, order: str) -> bytes:
    """UTF-16 units, each in four bytes, as rmw_cyclonedds_cpp sends a wstring."""
    units = np.frombuffer(text.encode("utf-16-le"), "<u2")
    return units.astype(f"{order}u4").tobytes()


def wide_from_bytes(data: memoryview, order: str) -> str:
    """The reverse of wide_to_bytes; units that are no text become U+FFFD."""
    return np.frombuffer(data, f"{order}u4").astype("<u2").tobytes().decode("utf-16-le", "replace")

"""The base of the generators of CDR writers and readers: source lines, and the alignment in the stream."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ros_embedded.interfaces.definitions import FieldType
from ros_embedded.interfaces.lookup import message_definition


class CdrSource:
    """Collects the lines of one generated function; one struct call reads or writes neighbouring numbers.

    While generating it knows that `place % known == offset` for the place in the stream. A subclass emits the struct
    call for the numbers collected, and the code that aligns the place, and that of messages, strings and arrays.
    """

    _flush: Callable[[], None]
    _emit_alignment: Callable[[int], None]
    _message: Callable[[str, str], None]
    _string: Callable[[FieldType, str], None]
    _array: Callable[[FieldType, str], None]

    def __init__(self, signature: str, names: dict[str, Any], known_alignment: int) -> None:
        self._lines = [f"def {signature}:"]
        self._names = names
        self._known, self._offset = known_alignment, 0
        self._format = ""
        self._values: list[str] = []
        self._count = 0

    def _finish(self, function: str, of: str) -> Callable[..., Any]:
        self._flush()
        exec(compile("\n".join(self._lines), f"<{function} {of}>", "exec"), self._names)
        return self._names[function]

    def _emit(self, *lines: str) -> None:
        self._lines += [f"  {line}" for line in lines]

    def _variable(self) -> str:
        """A new name for a value of the generated function."""
        self._count += 1
        return f"v{self._count}"

    def _constant(self, value: Any) -> str:
        """A new name under which the generated function finds `value`."""
        self._count += 1
        self._names[f"g{self._count}"] = value
        return f"g{self._count}"

    def _field(self, kind: FieldType, value: str) -> None:
        primitive = kind.primitive
        if kind.array:
            self._array(kind, value)
        elif kind.is_message:
            self._message(kind.name, value)
        elif primitive is not None:
            self._number(primitive.struct_code, primitive.size_bytes, value)
        else:
            self._string(kind, value)

    def _number(self, code: str, size: int, value: str) -> None:
        self._align(size)
        self._format += code
        self._values.append(value)
        self._advance(size)

    def _align(self, alignment: int) -> None:
        padding = self._padding(alignment)
        if padding is None:
            self._flush()
            self._emit_alignment(alignment)
            self._stand_at(alignment)
        elif padding:
            self._format += f"{padding}x"
            self._advance(padding)

    def _padding(self, alignment: int) -> int | None:
        """Bytes to skip to reach the alignment; None if only the running code can know."""
        return None if alignment > self._known else -self._offset % alignment

    def _advance(self, count: int) -> None:
        self._offset = (self._offset + count) % self._known

    def _stand_at(self, known: int) -> None:
        """Continue at a place of which is known only that it is a multiple of `known`."""
        self._known, self._offset = known, 0


def least_size_bytes(kind: FieldType) -> int:
    """The least number of bytes of one element: it bounds how many elements the remaining bytes can hold."""
    if kind.is_string:
        return 4
    if kind.primitive is not None:
        return kind.primitive.size_bytes
    total = 0
    for field in message_definition(kind.name).wire_fields:
        is_sequence = field.type.array in ("bounded", "unbounded")
        total += 4 if is_sequence else least_size_bytes(field.type.element) * max(field.type.size, 1)
    return max(total, 1)


def wide_to_bytes(text: str, order: str) -> bytes:
    """UTF-16 units, each in four bytes, as rmw_cyclonedds_cpp sends a wstring."""
    return np.frombuffer(text.encode("utf-16-le"), "<u2").astype(f"{order}u4").tobytes()


def wide_from_bytes(data: memoryview, order: str) -> str:
    """The reverse of wide_to_bytes; units that are not valid text become U+FFFD."""
    return np.frombuffer(data, f"{order}u4").astype("<u2").tobytes().decode("utf-16-le", "replace")

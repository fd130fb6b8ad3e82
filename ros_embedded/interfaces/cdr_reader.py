"""Generates, for a message class, the function that reads it from CDR bytes and trusts none of their claims."""

from __future__ import annotations

import struct
from array import array
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from ros_embedded.interfaces.cdr_layout import Position, least_size_bytes, wide_from_bytes
from ros_embedded.interfaces.definitions import FieldType, MessageDefinition, Primitive
from ros_embedded.interfaces.lookup import message_definition
from ros_embedded.interfaces.message_class import CHECK_FIELDS
from ros_embedded.interfaces.registry import get_message

Reader = Callable[[memoryview, int, int], tuple[Any, int]]


@cache
def reader_of(message_class: Any, order: str) -> Reader:
    """The function read(data, place, end) -> (message, place after it); order is `<` or `>` as in `struct`."""
    return _ReaderSource(order, known_alignment=8).compile(message_class)


@cache
def _element_reader(message_class: Any, order: str) -> Reader:
    """A reader that starts anywhere in the stream."""
    return _ReaderSource(order, known_alignment=1).compile(message_class)


@cache
def _string_reader(kind: FieldType, order: str) -> Reader:
    return _ReaderSource(order, known_alignment=1).compile_string(kind)


def check_count(count: int, least_bytes: int, left: int, bound: int) -> None:
    """Refuse a number of elements that cannot be there; raises ValueError."""
    if count * least_bytes > left:
        raise ValueError(f"{count} elements are announced where {left} bytes are left")
    if bound and count > bound:
        raise ValueError(f"{count} elements are announced where the type allows {bound}")


class _ReaderSource:
    """Collects source lines; neighbouring numbers are unpacked by one struct call."""

    def __init__(self, order: str, known_alignment: int) -> None:
        self._order = order
        self._position = Position(known_alignment)
        self._lines = ["def read(data, p, end):"]
        self._names: dict[str, Any] = {"check_count": check_count, "wide_from_bytes": wide_from_bytes}
        self._names |= {"array": array, "np": np, "CHECK_FIELDS": CHECK_FIELDS, "new": object.__new__}
        self._format = ""
        self._targets: list[str] = []
        self._count = 0

    def compile(self, message_class: Any) -> Reader:
        """The function for a message."""
        self._message(message_class, "m")
        return self._finish(message_class._TYPE_NAME)

    def compile_string(self, kind: FieldType) -> Reader:
        """The function for one string."""
        self._string(kind, "m")
        return self._finish(kind.name)

    def _finish(self, name: str) -> Reader:
        self._flush()
        exec(compile("\n".join([*self._lines, "  return m, p"]), f"<read {name}>", "exec"), self._names)
        return self._names["read"]

    def _new_name(self, value: Any = None) -> str:
        self._count += 1
        if value is not None:
            self._names[f"g{self._count}"] = value
        return f"{'g' if value is not None else 'v'}{self._count}"

    def _emit(self, *lines: str) -> None:
        self._lines += [f"  {line}" for line in lines]

    def _align(self, alignment: int) -> None:
        padding = self._position.padding(alignment)
        if padding is None:
            self._flush()
            self._emit(f"p = (p + {alignment - 1}) & -{alignment}")
            self._position.set(alignment)
        elif padding:
            self._format += f"{padding}x"
            self._position.advance(padding)

    def _number(self, code: str, size: int, target: str) -> None:
        self._align(size)
        self._format += code
        self._targets.append(target)
        self._position.advance(size)

    def _flush(self) -> None:
        if self._format:
            layout = struct.Struct(self._order + self._format)
            unpack = self._new_name(layout.unpack_from)
            targets = f"{', '.join(self._targets)}, = " if self._targets else ""
            self._emit(f"{targets}{unpack}(data, p)", f"p += {layout.size}")
        self._format, self._targets = "", []

    def _message(self, message_class: Any, target: str) -> None:
        definition: MessageDefinition = message_definition(message_class._TYPE_NAME)
        made = self._new_name(message_class)
        self._emit(f"{target} = new({made})", f"{target}._check_fields = CHECK_FIELDS")
        if not definition.fields:
            self._number("B", 1, self._new_name())
        for field in definition.fields:
            self._field(field.type, f"{target}._{field.name}")

    def _field(self, kind: FieldType, target: str) -> None:
        primitive = kind.primitive
        if kind.array:
            self._array(kind, target)
        elif kind.is_message:
            value = self._new_name()
            self._message(get_message(kind.name), value)
            self._emit(f"{target} = {value}")
        elif primitive is not None:
            self._number(primitive.struct_code, primitive.size_bytes, target)
        else:
            self._string(kind, target)

    def _string(self, kind: FieldType, target: str) -> None:
        self._number("I", 4, "n")
        self._flush()
        if kind.name == "wstring":
            self._emit(f"check_count(n, 4, end - p, {kind.string_bound})", "q = p + 4 * n")
            self._emit(f"{target} = wide_from_bytes(data[p:q], '{self._order}')", "p = q")
            self._position.set(4)
            return
        self._emit("q = p + n", "if q > end: raise ValueError('a string is longer than the bytes left')")
        self._emit(f"{target} = str(data[p:q - 1], 'utf-8', 'replace') if n > 1 else ''", "p = q")
        if kind.string_bound:
            self._emit(f"if n > {kind.string_bound * 4 + 1}: raise ValueError('a string is longer than its bound')")
        self._position.set(1)

    def _array(self, kind: FieldType, target: str) -> None:
        if kind.array == "fixed":
            self._flush()
            self._emit(f"n = {kind.size}")
        else:
            self._number("I", 4, "n")
            self._flush()
        least = least_size_bytes(kind.element)
        bound = kind.size if kind.array == "bounded" else 0
        self._emit(f"if n > 0: check_count(n, {least}, end - p, {bound})")
        if kind.primitive is not None:
            self._primitives(kind, kind.primitive, target)
        else:
            self._elements(kind, target)

    def _primitives(self, kind: FieldType, primitive: Primitive, target: str) -> None:
        size, code = primitive.size_bytes, primitive.struct_code
        if kind.array == "fixed":
            self._align(size)
            self._flush()
        elif self._position.padding(size) != 0:
            self._emit(f"if n: p = (p + {size - 1}) & -{size}")
        self._emit(f"q = p + {size} * n", "if q > end: raise ValueError('the bytes end within an array')")
        if code == "?":
            self._emit(f"{target} = [octet != 0 for octet in data[p:q]]")
        elif code == "c":
            self._emit(f"{target} = [data[i:i + 1].tobytes() for i in range(p, q)]")
        elif kind.array == "fixed":
            self._emit(f"{target} = np.frombuffer(data[p:q], '{self._order}{code}').astype('{code}')")
        else:
            self._emit(f"{target} = a = array('{code}')", "a.frombytes(data[p:q])")
            if size > 1 and self._order == ">":
                self._emit("a.byteswap()")
        self._emit("p = q")
        if kind.array == "fixed":
            self._position.advance(size * kind.size)
        else:
            self._position.set(min(4, size))

    def _elements(self, kind: FieldType, target: str) -> None:
        reader = (
            _element_reader(get_message(kind.name), self._order)
            if kind.is_message
            else _string_reader(kind.element, self._order)
        )
        read = self._new_name(reader)
        self._emit(f"{target} = a = []", "for _ in range(n):", f"  e, p = {read}(data, p, end)", "  a.append(e)")
        self._position.set(1)

"""Generates the function that reads a message class from CDR bytes; it checks every announced length."""

from __future__ import annotations

import struct
from array import array
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from ros_embedded.interfaces.cdr_source import CdrSource, least_size_bytes, wide_from_bytes
from ros_embedded.interfaces.definitions import FieldType, Primitive
from ros_embedded.interfaces.lookup import message_definition
from ros_embedded.interfaces.message_class import CHECK_FIELDS
from ros_embedded.interfaces.registry import get_message

Reader = Callable[[memoryview, int, int], tuple[Any, int]]


@cache
def reader_of(message_class: Any, order: str) -> Reader:
    """The function read(data, place, end) -> (message, place after it); order is `<` or `>` as in `struct`."""
    return _ReaderSource(order, known_alignment=8).compile(FieldType(message_class._TYPE_NAME))


@cache
def _element_reader(kind: FieldType, order: str) -> Reader:
    """The reader of one array element; the element may start at any place in the stream."""
    return _ReaderSource(order, known_alignment=1).compile(kind)


def check_count(count: int, least_bytes: int, left: int, bound: int) -> None:
    """Raise ValueError for a number of elements that the remaining bytes cannot hold."""
    if count * least_bytes > left:
        raise ValueError(f"{count} elements are announced where {left} bytes are left")
    if bound and count > bound:
        raise ValueError(f"{count} elements are announced where the type allows {bound}")


class _ReaderSource(CdrSource):
    """The expressions in its methods are assignment targets of the values read."""

    def __init__(self, order: str, known_alignment: int) -> None:
        names = {"check_count": check_count, "wide_from_bytes": wide_from_bytes, "array": array, "np": np}
        names |= {"CHECK_FIELDS": CHECK_FIELDS, "new": object.__new__}
        super().__init__("read(data, p, end)", names, known_alignment)
        self._order = order

    def compile(self, kind: FieldType) -> Reader:
        self._field(kind, "m")
        self._flush()
        self._emit("return m, p")
        return self._finish("read", kind.name)

    def _flush(self) -> None:
        if self._format:
            layout = struct.Struct(self._order + self._format)
            unpack = self._constant(layout.unpack_from)
            targets = f"{', '.join(self._values)}, = " if self._values else ""
            self._emit(f"{targets}{unpack}(data, p)", f"p += {layout.size}")
        self._format, self._values = "", []

    def _emit_alignment(self, alignment: int) -> None:
        self._emit(f"p = (p + {alignment - 1}) & -{alignment}")

    def _message(self, name: str, value: str) -> None:
        made, variable = self._constant(get_message(name)), self._variable()
        self._emit(f"{value} = {variable} = new({made})", f"{variable}._check_fields = CHECK_FIELDS")
        fields = message_definition(name).fields
        if not fields:
            self._number("B", 1, self._variable())
        for field in fields:
            self._field(field.type, f"{variable}._{field.name}")

    def _string(self, kind: FieldType, value: str) -> None:
        self._number("I", 4, "n")
        self._flush()
        if kind.name == "wstring":
            self._emit(f"check_count(n, 4, end - p, {kind.string_bound})", "q = p + 4 * n")
            self._emit(f"{value} = wide_from_bytes(data[p:q], '{self._order}')", "p = q")
            self._stand_at(4)
            return
        self._emit("q = p + n", "if q > end: raise ValueError('a string is longer than the bytes left')")
        self._emit(f"{value} = str(data[p:q - 1], 'utf-8', 'replace') if n > 1 else ''", "p = q")
        if kind.string_bound:  # counted in characters
            self._emit(f"if len({value}) > {kind.string_bound}: raise ValueError('a string is longer than its bound')")
        self._stand_at(1)

    def _array(self, kind: FieldType, value: str) -> None:
        if kind.array == "fixed":
            self._flush()
            self._emit(f"n = {kind.size}")
        else:
            self._number("I", 4, "n")
            self._flush()
            bound = kind.size if kind.array == "bounded" else 0
            self._emit(f"if n: check_count(n, {least_size_bytes(kind.element)}, end - p, {bound})")
        if kind.primitive is not None:
            self._primitives(kind, kind.primitive, value)
        else:
            read = self._constant(_element_reader(kind.element, self._order))
            self._emit(f"{value} = a = []", "for _ in range(n):", f"  e, p = {read}(data, p, end)", "  a.append(e)")
            self._stand_at(1)

    def _primitives(self, kind: FieldType, primitive: Primitive, value: str) -> None:
        size, code, is_fixed = primitive.size_bytes, primitive.struct_code, kind.array == "fixed"
        if is_fixed:
            self._align(size)
            self._flush()
        elif self._padding(size) != 0:
            self._emit(f"if n: p = (p + {size - 1}) & -{size}")
        self._emit(f"q = p + {size} * n", "if q > end: raise ValueError('the bytes end within an array')")
        if code == "?":
            self._emit(f"{value} = [octet != 0 for octet in data[p:q]]")
        elif code == "c":
            self._emit(f"{value} = [data[i:i + 1].tobytes() for i in range(p, q)]")
        elif is_fixed:
            self._emit(f"{value} = np.frombuffer(data[p:q], '{self._order}{code}').astype('{code}')")
        else:
            swap = ["a.byteswap()"] if size > 1 and self._order == ">" else []
            self._emit(f"{value} = a = array('{code}')", "a.frombytes(data[p:q])", *swap)
        self._emit("p = q")
        if is_fixed:
            self._advance(size * kind.size)
        else:
            self._stand_at(min(4, size))

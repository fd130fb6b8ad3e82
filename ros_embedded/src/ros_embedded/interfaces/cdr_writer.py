"""Generates, for a message class, the function that appends its CDR bytes to a bytearray."""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from ros_embedded.interfaces.cdr_source import CdrSource, wide_to_bytes
from ros_embedded.interfaces.definitions import FieldType, Primitive
from ros_embedded.interfaces.lookup import message_definition

HEADER_BYTES = 4


@cache
def writer_of(message_class: Any) -> Callable[[Any, bytearray], None]:
    """The function write(message, out) that appends to out, whose first 4 bytes are the encapsulation header."""
    return _WriterSource(known_alignment=8).compile(FieldType(message_class._TYPE_NAME))


@cache
def _element_writer(kind: FieldType) -> Callable[[Any, bytearray], None]:
    """The writer of one array element; the element may start at any place in the stream."""
    return _WriterSource(known_alignment=1).compile(kind)


class _WriterSource(CdrSource):
    """The expressions in its methods are the values to write."""

    def __init__(self, known_alignment: int) -> None:
        super().__init__("write(m, out)", {"wide_to_bytes": wide_to_bytes, "np": np}, known_alignment)

    def compile(self, kind: FieldType) -> Callable[[Any, bytearray], None]:
        self._field(kind, "m")
        return self._finish("write", kind.name)

    def _flush(self) -> None:
        if self._format:
            pack = self._constant(struct.Struct("<" + self._format).pack)
            self._emit(f"out += {pack}({', '.join(self._values)})")
        self._format, self._values = "", []

    def _emit_alignment(self, alignment: int) -> None:
        self._emit(f"n = -(len(out) - {HEADER_BYTES}) % {alignment}", "if n: out += bytes(n)")

    def _message(self, name: str, value: str) -> None:
        fields = message_definition(name).fields
        if not fields:
            self._number("B", 1, "0")
        for field in fields:
            variable = self._variable()
            self._emit(f"{variable} = {value}._{field.name}")
            self._field(field.type, variable)

    def _string(self, kind: FieldType, value: str) -> None:
        data, is_wide = self._variable(), kind.name == "wstring"
        if kind.string_bound:
            self._emit(f"if len({value}) > {kind.string_bound}: raise ValueError('string longer than its bound')")
        self._emit(f"{data} = wide_to_bytes({value}, '<')" if is_wide else f"{data} = {value}.encode()")
        self._number("I", 4, f"len({data}) // 4" if is_wide else f"len({data}) + 1")
        self._flush()
        self._emit(f"out += {data}", *([] if is_wide else ["out.append(0)"]))
        self._stand_at(4 if is_wide else 1)

    def _array(self, kind: FieldType, value: str) -> None:
        if kind.array == "fixed":
            self._emit(f"if len({value}) != {kind.size}: raise ValueError('expected {kind.size} elements')")
        else:
            if kind.array == "bounded":
                self._emit(f"if len({value}) > {kind.size}: raise ValueError('more than {kind.size} elements')")
            self._number("I", 4, f"len({value})")
        self._flush()
        if kind.primitive is not None:
            self._primitives(kind, kind.primitive, value)
        else:
            write = self._constant(_element_writer(kind.element))
            self._emit(f"for e in {value}: {write}(e, out)")
            self._stand_at(1)

    def _primitives(self, kind: FieldType, primitive: Primitive, value: str) -> None:
        size, is_fixed = primitive.size_bytes, kind.array == "fixed"
        data = {"?": f"bytes({value})", "c": f"b''.join({value})"}.get(primitive.struct_code, value)
        if is_fixed:
            self._align(size)
            self._flush()
            is_numeric = primitive.is_numeric
            self._emit(
                f"out += np.asarray({value}, '<{primitive.struct_code}').tobytes()" if is_numeric else f"out += {data}"
            )
            self._advance(size * kind.size)
            return
        padding = self._padding(size)
        pad = f"bytes(-(len(out) - {HEADER_BYTES}) % {size})" if padding is None else f"bytes({padding})"
        self._emit(f"if len({value}):", *([] if padding == 0 else [f"  out += {pad}"]), f"  out += {data}")
        self._stand_at(min(4, size))

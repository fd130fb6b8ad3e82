"""Generates, for a message class, the function that appends its CDR bytes to a bytearray."""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from ros_embedded.interfaces.cdr_layout import Position, wide_to_bytes
from ros_embedded.interfaces.definitions import FieldType, MessageDefinition, Primitive
from ros_embedded.interfaces.lookup import message_definition

Writer = Callable[[Any, bytearray], None]
HEADER_BYTES = 4


@cache
def writer_of(message_class: Any) -> Writer:
    """The function write(message, out) that appends to out, whose first 4 bytes are the encapsulation header."""
    return _WriterSource(known_alignment=8).compile(message_definition(message_class._TYPE_NAME))


@cache
def _element_writer(name: str) -> Writer:
    """A writer that starts anywhere in the stream."""
    return _WriterSource(known_alignment=1).compile(message_definition(name))


class _WriterSource:
    """Collects source lines; neighbouring numbers are packed by one struct call."""

    def __init__(self, known_alignment: int) -> None:
        self._position = Position(known_alignment)
        self._lines = ["def write(m, out):"]
        self._names: dict[str, Any] = {"wide_to_bytes": wide_to_bytes, "np": np}
        self._format = ""
        self._values: list[str] = []
        self._count = 0

    def compile(self, definition: MessageDefinition) -> Writer:
        """The function for a message."""
        self._message(definition, "m")
        self._flush()
        exec(compile("\n".join([*self._lines, "  return None"]), f"<write {definition.name}>", "exec"), self._names)
        return self._names["write"]

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
            self._emit(f"n = -(len(out) - {HEADER_BYTES}) % {alignment}", "if n: out += bytes(n)")
            self._position.set(alignment)
        elif padding:
            self._format += f"{padding}x"
            self._position.advance(padding)

    def _number(self, code: str, size: int, value: str) -> None:
        self._align(size)
        self._format += code
        self._values.append(value)
        self._position.advance(size)

    def _flush(self) -> None:
        if self._format:
            pack = self._new_name(struct.Struct("<" + self._format).pack)
            self._emit(f"out += {pack}({', '.join(self._values)})")
        self._format, self._values = "", []

    def _message(self, definition: MessageDefinition, source: str) -> None:
        if not definition.fields:
            self._number("B", 1, "0")
        for field in definition.fields:
            value = self._new_name()
            self._emit(f"{value} = {source}._{field.name}")
            self._field(field.type, value)

    def _field(self, kind: FieldType, value: str) -> None:
        primitive = kind.primitive
        if kind.array:
            self._array(kind, value)
        elif kind.is_message:
            self._message(message_definition(kind.name), value)
        elif primitive is not None:
            self._number(primitive.struct_code, primitive.size_bytes, value)
        else:
            self._string(kind, value)

    def _string(self, kind: FieldType, value: str) -> None:
        data = self._new_name()
        if kind.string_bound:
            self._emit(f"if len({value}) > {kind.string_bound}: raise ValueError('string longer than its bound')")
        if kind.name == "wstring":
            self._emit(f"{data} = wide_to_bytes({value}, '<')")
            self._number("I", 4, f"len({data}) // 4")
            self._flush()
            self._emit(f"out += {data}")
            self._position.set(4)
            return
        self._emit(f"{data} = {value}.encode()")
        self._number("I", 4, f"len({data}) + 1")
        self._flush()
        self._emit(f"out += {data}", "out.append(0)")
        self._position.set(1)

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
            self._elements(kind, value)

    def _primitives(self, kind: FieldType, primitive: Primitive, value: str) -> None:
        size = primitive.size_bytes
        data = {"?": f"bytes({value})", "c": f"b''.join({value})"}.get(primitive.struct_code, value)
        if primitive.is_numeric and kind.array == "fixed":
            data = f"np.asarray({value}, '<{primitive.struct_code}').tobytes()"
        if kind.array == "fixed":
            self._align(size)
            self._flush()
            self._emit(f"out += {data}")
            self._position.advance(size * kind.size)
            return
        padding = self._position.padding(size)
        pad = f"bytes(-(len(out) - {HEADER_BYTES}) % {size})" if padding is None else f"bytes({padding})"
        self._emit(f"if len({value}):", *([f"  out += {pad}"] if padding != 0 else []), f"  out += {data}")
        self._position.set(min(4, size))

    def _elements(self, kind: FieldType, value: str) -> None:
        if kind.is_message:
            write = self._new_name(_element_writer(kind.name))
            self._emit(f"for e in {value}: {write}(e, out)")
        else:
            write = self._new_name(_string_writer(kind))
            self._emit(f"for e in {value}: {write}(e, out)")
        self._position.set(1)


@cache
def _string_writer(kind: FieldType) -> Writer:
    source = _WriterSource(known_alignment=1)
    source._field(kind.element, "m")
    source._flush()
    exec("\n".join(source._lines), source._names)
    return source._names["write"]

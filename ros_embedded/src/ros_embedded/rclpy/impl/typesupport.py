"""The DDS side of an interface: its type name, the description that Cyclone checks payloads against, USER_DATA."""

from __future__ import annotations

import ctypes as ct
from functools import cache

from ros_embedded.interfaces.definitions import FieldType, MessageDefinition
from ros_embedded.interfaces.lookup import message_definition
from ros_embedded.rclpy.impl import cyclone

# Opcodes of Cyclone's serialiser (dds_opcodes.h). Offsets into C structures are zero: samples cross as CDR bytes.
_ADR = 1 << 24
_END = 0
_BOOL, _STRING, _SEQUENCE, _ARRAY, _STRUCT = 0x0E, 0x05, 0x07, 0x08, 0x0A
_BY_SIZE = {1: 0x01, 2: 0x02, 4: 0x03, 8: 0x04}
_REQUEST_HEADER = [_ADR | _BY_SIZE[8] << 16, 0] * 2


def dds_type_name(name: str) -> str:
    """`std_msgs/msg/String` as `std_msgs::msg::dds_::String_`."""
    package, kind, type_name = name.split("/")
    return f"{package}::{kind}::dds_::{type_name}_"


def ros_type_name(name: str) -> str:
    """`std_msgs::msg::dds_::String_` as `std_msgs/msg/String`; other names stay."""
    if "::dds_::" not in name:
        return name
    package, kind, _, type_name = name.split("::")
    return f"{package}/{kind}/{type_name[:-1]}"


def _element(kind: FieldType) -> list[int]:
    """The type code of an element and, for a message, its own program."""
    if kind.is_message:
        return [_STRUCT, *_fields(message_definition(kind.name)), _END]
    if kind.name == "string":
        return [_STRING]
    primitive = kind.primitive
    if primitive is None:  # wstring: a count, then four bytes for each character, as rmw_cyclonedds_cpp writes it
        return [_SEQUENCE]
    return [_BOOL if kind.name == "bool" else _BY_SIZE[primitive.size_bytes]]


def _fields(definition: MessageDefinition) -> list[int]:
    program: list[int] = []
    for field in definition.wire_fields:
        program += _field(field.type)
    return program


def _field(kind: FieldType) -> list[int]:
    code, *element = _element(kind)
    if kind.array == "fixed":
        if code == _SEQUENCE:
            return _field(kind.element) * kind.size
        if element:
            head = [_ADR | _ARRAY << 16 | code << 8, 0, kind.size, (5 + len(element)) << 16 | 5, 1]
            return head + element
        return [_ADR | _ARRAY << 16 | code << 8, 0, kind.size]
    if kind.array:
        if code == _SEQUENCE:  # a sequence of sequences
            code, element = _SEQUENCE, [*_field(kind.element), _END]
        if element:
            return [_ADR | _SEQUENCE << 16 | code << 8, 0, 1, (4 + len(element)) << 16 | 4, *element]
        return [_ADR | _SEQUENCE << 16 | code << 8, 0]
    if code == _SEQUENCE:
        return [_ADR | _SEQUENCE << 16 | _BY_SIZE[4] << 8, 0]
    if element:  # a nested message has no header in XCDR1: its fields follow in place
        return element[:-1]
    return [_ADR | code << 16, 0]


@cache
def topic_descriptor(type_name: str, with_request_header: bool) -> cyclone.TopicDescriptor:
    """What Cyclone needs to know of message `type_name` (`pkg/msg/Type`, or a part of a service or action).

    With a request header, 16 bytes come first: the client's guid and the request's sequence number.
    """
    program = [*(_REQUEST_HEADER if with_request_header else ()), *_fields(message_definition(type_name)), _END]
    ops = (ct.c_uint32 * len(program))(*program)
    return cyclone.TopicDescriptor(
        size=8, align=8, type_name=dds_type_name(type_name).encode(), op_count=len(program), ops=ops
    )


def user_data_value(user_data: bytes, key: str) -> str | None:
    """The value of `key=value;` in an endpoint's USER_DATA."""
    for entry in user_data.decode(errors="replace").split(";"):
        name, _, value = entry.partition("=")
        if name == key:
            return value.strip()
    return None

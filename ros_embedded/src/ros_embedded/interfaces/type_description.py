"""RIHS01 hashes of type descriptions (REP-2011), by which ROS 2 peers compare types."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from typing import Any

from ros_embedded.interfaces.definitions import PRIMITIVES, Field, FieldType, MessageDefinition
from ros_embedded.interfaces.lookup import InterfaceNotFoundError, message_definition, stand_in

_NESTED, _STRINGS, _BOUNDED_STRINGS = 1, {"string": 17, "wstring": 18}, {"string": 21, "wstring": 22}
_ARRAY_OFFSETS = {"": 0, "fixed": 48, "bounded": 96, "unbounded": 144}


@cache
def type_hash(name: str) -> str:
    """The hash of a message, service or action, `RIHS01_` and 64 hexadecimal digits. Raises InterfaceNotFoundError."""
    described, *referenced = (_individual(each) for each in described_types(name))
    description = {"type_description": described, "referenced_type_descriptions": referenced}
    return "RIHS01_" + hashlib.sha256(json.dumps(description).encode()).hexdigest()


def described_types(name: str) -> list[MessageDefinition]:
    """A message, service or action and then, by name, all types that it is built of. Raises InterfaceNotFoundError."""
    described = _definition(name)
    found: dict[str, MessageDefinition] = {}
    open_ends = [described]
    while open_ends:
        for field in open_ends.pop().fields:
            if field.type.is_message and field.type.name not in found:
                found[field.type.name] = _definition(field.type.name)
                open_ends.append(found[field.type.name])
    return [described, *(found[name] for name in sorted(found))]


def _definition(name: str) -> MessageDefinition:
    """A message's definition, or the structure that represents a service or action."""
    try:
        return message_definition(name)
    except InterfaceNotFoundError:
        if "/msg/" in name or name.count("/") != 2:
            raise
        return stand_in(name)


def _individual(definition: MessageDefinition) -> dict[str, Any]:
    return {"type_name": definition.name, "fields": [_field(field) for field in definition.wire_fields]}


def _field(field: Field) -> dict[str, Any]:
    return {
        "name": field.name,
        "type": {
            "type_id": _type_id(field.type),
            "capacity": field.type.size,
            "string_capacity": field.type.string_bound,
            "nested_type_name": field.type.name if field.type.is_message else "",
        },
    }


def _type_id(kind: FieldType) -> int:
    if kind.is_string:
        base = (_BOUNDED_STRINGS if kind.string_bound else _STRINGS)[kind.name]
    else:
        base = _NESTED if kind.is_message else PRIMITIVES[kind.name].type_id
    return base + _ARRAY_OFFSETS[kind.array]

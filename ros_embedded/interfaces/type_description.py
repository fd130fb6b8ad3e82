"""Type descriptions of REP-2011: what get_type_description answers and what type hashes are made of."""

from __future__ import annotations

from dataclasses import dataclass

from ros_embedded.interfaces.definitions import (
    PRIMITIVES,
    FieldType,
    MessageDefinition,
    action_as_message,
    service_as_message,
)
from ros_embedded.interfaces.lookup import (
    InterfaceNotFoundError,
    action_definition,
    message_definition,
    service_definition,
)

_NESTED, _STRING, _WSTRING, _BOUNDED_STRING, _BOUNDED_WSTRING = 1, 17, 18, 21, 22
_ARRAY_OFFSETS = {"": 0, "fixed": 48, "bounded": 96, "unbounded": 144}


@dataclass(frozen=True)
class TypeDescription:
    """A type and, by name, all types that it is built of."""

    type: MessageDefinition
    referenced: tuple[MessageDefinition, ...]


def type_description(name: str) -> TypeDescription:
    """Describe a message, service or action by its full name. Raises InterfaceNotFoundError."""
    return TypeDescription(described := _definition(name), tuple(_referenced(described)))


def type_id(kind: FieldType) -> int:
    """The number that type_description_interfaces/msg/FieldType gives to a field's type."""
    if kind.is_message:
        base = _NESTED
    elif kind.name == "string":
        base = _BOUNDED_STRING if kind.string_bound else _STRING
    elif kind.name == "wstring":
        base = _BOUNDED_WSTRING if kind.string_bound else _WSTRING
    else:
        base = PRIMITIVES[kind.name].type_id
    return base + _ARRAY_OFFSETS[kind.array]


def _definition(name: str) -> MessageDefinition:
    """A message's definition, or the structure that stands for a service or action."""
    try:
        return message_definition(name)
    except InterfaceNotFoundError:
        if "/srv/" in name or name.endswith(("_SendGoal", "_GetResult")):
            service_definition(name)
            return service_as_message(name)
        if "/action/" in name:
            action_definition(name)
            return action_as_message(name)
        raise


def _referenced(described: MessageDefinition) -> list[MessageDefinition]:
    found: dict[str, MessageDefinition] = {}
    open_ends = [described]
    while open_ends:
        for field in open_ends.pop().fields:
            if field.type.is_message and field.type.name not in found:
                found[field.type.name] = _definition(field.type.name)
                open_ends.append(found[field.type.name])
    return [found[name] for name in sorted(found)]

"""Type descriptions as messages of type_description_interfaces."""

from __future__ import annotations

from typing import Any

from ros_embedded.interfaces import get_message
from ros_embedded.interfaces.definitions import Field, MessageDefinition
from ros_embedded.interfaces.type_description import type_description, type_id

_PACKAGE = "type_description_interfaces/msg"


def type_description_message(name: str) -> Any:
    """type_description_interfaces/msg/TypeDescription of an interface. Raises InterfaceNotFoundError."""
    described = type_description(name)
    return get_message(f"{_PACKAGE}/TypeDescription")(
        type_description=_individual(described.type),
        referenced_type_descriptions=[_individual(definition) for definition in described.referenced],
    )


def type_sources_messages(name: str) -> list[Any]:
    """type_description_interfaces/msg/TypeSource of an interface and those that it is built of."""
    described = type_description(name)
    return [
        get_message(f"{_PACKAGE}/TypeSource")(
            type_name=definition.name, encoding=definition.name.split("/")[1], raw_file_contents=definition.source
        )
        for definition in (described.type, *described.referenced)
        if definition.source
    ]


def _individual(definition: MessageDefinition) -> Any:
    return get_message(f"{_PACKAGE}/IndividualTypeDescription")(
        type_name=definition.name, fields=[_field(field) for field in definition.wire_fields]
    )


def _field(field: Field) -> Any:
    kind = get_message(f"{_PACKAGE}/FieldType")(
        type_id=type_id(field.type),
        capacity=field.type.size,
        string_capacity=field.type.string_bound,
        nested_type_name=field.type.name if field.type.is_message else "",
    )
    default = "" if field.default is None else str(field.default)
    return get_message(f"{_PACKAGE}/Field")(name=field.name, type=kind, default_value=default)

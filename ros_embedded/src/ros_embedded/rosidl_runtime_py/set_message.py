"""Messages from plain values, such as those read from YAML."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np

from ros_embedded.interfaces import get_message
from ros_embedded.interfaces.definitions import FieldType
from ros_embedded.interfaces.lookup import message_definition
from ros_embedded.interfaces.message_class import full_name


def set_message_fields(msg: Any, values: dict[str, Any]) -> None:
    """Set fields of a message by name from plain values, nested as the message is.

    Raises AttributeError for a field that the message does not have, TypeError for a value that does not fit its field.
    """
    if not isinstance(values, dict):
        raise TypeError(f"Value '{values}' is expected to be a dictionary but is a {type(values).__name__}")
    kinds = {field.name: field.type for field in message_definition(str(full_name(type(msg)))).fields}
    for name, value in values.items():
        field = getattr(msg, name)
        kind = kinds[name]
        if full_name(type(field)) is not None:
            part = value if type(value) is type(field) else type(field)()
            if part is not value:
                set_message_fields(part, value)
            setattr(msg, name, part)
        elif kind.is_message:
            elements = []
            for item in value:
                elements.append(get_message(kind.name)())
                set_message_fields(elements[-1], item)
            setattr(msg, name, elements)
        else:
            setattr(msg, name, _plain_value(field, kind, value))


def _plain_value(field: Any, kind: FieldType, value: Any) -> Any:
    """A value without messages, as its field keeps it."""
    if kind.array and kind.name == "byte":
        return [_as_octet(item) for item in value]
    return _as_type_of(field, value)


def _as_type_of(field: Any, value: Any) -> Any:
    if isinstance(field, array):
        return array(field.typecode, value)
    if isinstance(field, np.ndarray):
        return np.array(value, dtype=field.dtype)
    if isinstance(field, bytes):
        return _as_octet(value)
    return value if type(value) is type(field) else type(field)(value)


def _as_octet(value: Any) -> bytes:
    """One octet from a number, a character or bytes."""
    if isinstance(value, int):
        return bytes([value])
    return value.encode("latin-1") if isinstance(value, str) else bytes(value)

"""Messages as plain values, YAML and comma-separated text."""

from __future__ import annotations

import sys
from array import array
from collections import OrderedDict
from typing import Any

import numpy as np
import yaml

from ros_embedded.interfaces.slot_types import AbstractNestedType, AbstractType, Array, BasicType, BoundedSequence


class _Dumper(yaml.Dumper):
    """Writes an OrderedDict as an ordinary map."""


_Dumper.add_representer(
    OrderedDict, lambda dumper, data: dumper.represent_mapping("tag:yaml.org,2002:map", data.items())
)


def message_to_yaml(
    msg: Any,
    *,
    truncate_length: int | None = None,
    no_arr: bool = False,
    no_str: bool = False,
    flow_style: bool = False,
) -> str:
    """Write a message as YAML, with long values cut or arrays and strings only described if so asked."""
    plain = message_to_ordereddict(msg, truncate_length=truncate_length, no_arr=no_arr, no_str=no_str)
    return yaml.dump(plain, Dumper=_Dumper, allow_unicode=True, width=sys.maxsize, default_flow_style=flow_style)


def message_to_csv(msg: Any, *, truncate_length: int | None = None, no_arr: bool = False, no_str: bool = False) -> str:
    """Write all values of a message on one line, separated by commas."""
    plain = message_to_ordereddict(msg, truncate_length=truncate_length, no_arr=no_arr, no_str=no_str)
    return ",".join(_leaves(plain))


def message_to_ordereddict(
    msg: Any, *, truncate_length: int | None = None, no_arr: bool = False, no_str: bool = False
) -> OrderedDict[str, Any]:
    """The fields of a message by name, with nested messages as further OrderedDicts and arrays as lists."""
    options = (truncate_length, no_arr, no_str)
    return OrderedDict(
        (name, _plain(getattr(msg, name), slot, *options))
        for name, slot in zip(msg.get_fields_and_field_types(), msg.SLOT_TYPES)
    )


def get_message_slot_types(msg: Any) -> OrderedDict[str, AbstractType]:
    """The rosidl types of a message's fields by name."""
    return OrderedDict(zip(msg.get_fields_and_field_types(), msg.SLOT_TYPES))


def _plain(value: Any, slot: AbstractType | None, truncate_length: int | None, no_arr: bool, no_str: bool) -> Any:
    if isinstance(value, (list, tuple, array, np.ndarray)):
        if no_arr and isinstance(slot, AbstractNestedType):
            return _description(value, slot)
        is_cut = truncate_length is not None and len(value) > truncate_length
        kept = value[:truncate_length] if is_cut else value
        items = kept.tolist() if isinstance(kept, (array, np.ndarray)) else kept
        plain = [_plain(item, None, truncate_length, no_arr, no_str) for item in items]
        return [*plain, "..."] if is_cut else plain
    if isinstance(value, (str, bytes)):
        text = value.decode("latin-1") if isinstance(value, bytes) else value
        if no_str and isinstance(value, str):
            return f"<string length: <{len(text)}>>"
        is_cut = truncate_length is not None and len(text) > truncate_length
        return f"{text[:truncate_length]}..." if is_cut else text
    if isinstance(value, (bool, int, float)):
        return value
    return message_to_ordereddict(value, truncate_length=truncate_length, no_arr=no_arr, no_str=no_str)


def _description(value: Any, slot: AbstractNestedType) -> str:
    element: Any = slot.value_type
    if isinstance(element, BasicType):
        name = element.typename
    else:
        name = "/".join(element.namespaced_name()) if hasattr(element, "namespaced_name") else "string"
    if isinstance(slot, Array):
        return f"<array type: {name}[{slot.size}]>"
    bound = f"[{slot.maximum_size}]" if isinstance(slot, BoundedSequence) else ""
    return f"<sequence type: {name}{bound}, length: {len(value)}>"


def _leaves(plain: Any) -> list[str]:
    if isinstance(plain, OrderedDict):
        return [leaf for value in plain.values() for leaf in _leaves(value)]
    if isinstance(plain, list):
        return [leaf for value in plain for leaf in _leaves(value)]
    return [str(plain)]

"""Messages as plain values and YAML."""

from __future__ import annotations

import sys
from array import array
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

import numpy as np
import yaml

from ros_embedded.interfaces.definitions import FieldType
from ros_embedded.interfaces.lookup import message_definition
from ros_embedded.interfaces.message_class import full_name


class _Dumper(yaml.Dumper):
    """Writes an OrderedDict as an ordinary map."""


def _map_node(dumper: yaml.Dumper, data: OrderedDict[str, Any]) -> yaml.MappingNode:
    """A map that is written in flow style only inside a sequence, whatever the dumper's default is."""
    pairs = [(dumper.represent_data(name), dumper.represent_data(value)) for name, value in data.items()]
    return yaml.MappingNode("tag:yaml.org,2002:map", pairs)


_Dumper.add_representer(OrderedDict, _map_node)


def message_to_yaml(
    msg: Any,
    *,
    truncate_length: int | None = None,
    no_arr: bool = False,
    no_str: bool = False,
    flow_style: bool = False,
) -> str:
    """Write a message as YAML; the options are those of message_to_ordereddict."""
    plain = message_to_ordereddict(msg, truncate_length=truncate_length, no_arr=no_arr, no_str=no_str)
    return yaml.dump(plain, Dumper=_Dumper, allow_unicode=True, width=sys.maxsize, default_flow_style=flow_style)


def message_to_ordereddict(
    msg: Any, *, truncate_length: int | None = None, no_arr: bool = False, no_str: bool = False
) -> OrderedDict[str, Any]:
    """The fields of a message by name, with nested messages as further OrderedDicts and arrays as lists.

    Values longer than truncate_length are cut; arrays and strings are only described with no_arr and no_str.
    """
    return _plain_message(msg, _Options(truncate_length, no_arr, no_str))


@dataclass(frozen=True)
class _Options:
    """What message_to_ordereddict leaves out."""

    truncate_length: int | None
    no_arr: bool
    no_str: bool

    def cuts(self, value: Any) -> bool:
        """Whether a text or an array is too long."""
        return self.truncate_length is not None and len(value) > self.truncate_length


def _plain(value: Any, kind: FieldType | None, options: _Options) -> Any:
    if isinstance(value, (list, tuple, array, np.ndarray)):
        return _plain_items(value, kind, options)
    if isinstance(value, (str, bytes)):
        return _plain_text(value, options)
    if isinstance(value, (bool, int, float)):
        return value
    return _plain_message(value, options)


def _plain_message(msg: Any, options: _Options) -> OrderedDict[str, Any]:
    fields = message_definition(str(full_name(type(msg)))).fields
    return OrderedDict((field.name, _plain(getattr(msg, field.name), field.type, options)) for field in fields)


def _plain_items(value: Any, kind: FieldType | None, options: _Options) -> Any:
    if options.no_arr and kind is not None and kind.array:
        return _description(value, kind)
    kept = value[: options.truncate_length] if options.cuts(value) else value
    items = kept.tolist() if isinstance(kept, (array, np.ndarray)) else kept
    plain = [_plain(item, None, options) for item in items]
    return [*plain, "..."] if options.cuts(value) else plain


def _plain_text(value: str | bytes, options: _Options) -> str:
    text = value.decode("latin-1") if isinstance(value, bytes) else value
    if options.no_str and isinstance(value, str):
        return f"<string length: <{len(text)}>>"
    return f"{text[: options.truncate_length]}..." if options.cuts(text) else text


def _description(value: Any, kind: FieldType) -> str:
    if kind.primitive is not None:
        name = kind.primitive.idl_name
    else:
        name = "string" if kind.is_string else kind.name
    if kind.array == "fixed":
        return f"<array type: {name}[{kind.size}]>"
    bound = f"[{kind.size}]" if kind.array == "bounded" else ""
    return f"<sequence type: {name}{bound}, length: {len(value)}>"

"""Messages as plain values and YAML."""

from __future__ import annotations

import sys
from array import array
from collections import OrderedDict
from typing import Any

import numpy as np
import yaml

from ros_embedded.interfaces.lookup import message_definition
from ros_embedded.interfaces.message_class import full_name


class _Dumper(yaml.Dumper):
    """Writes an OrderedDict as an ordinary map."""


def _map_node(dumper: yaml.Dumper, data: OrderedDict[str, Any]) -> yaml.MappingNode:
    """A map that is written in flow style only inside a sequence, whatever the dumper's default is."""
    pairs = [(dumper.represent_data(name), dumper.represent_data(value)) for name, value in data.items()]
    return yaml.MappingNode("tag:yaml.org,2002:map", pairs)


_Dumper.add_representer(OrderedDict, _map_node)


def message_to_yaml(msg: Any, *, truncate_length: int | None = None) -> str:
    """Write a message as YAML; values longer than truncate_length are cut."""
    plain = message_to_ordereddict(msg, truncate_length=truncate_length)
    return yaml.dump(plain, Dumper=_Dumper, allow_unicode=True, width=sys.maxsize, default_flow_style=False)


def message_to_ordereddict(msg: Any, *, truncate_length: int | None = None) -> OrderedDict[str, Any]:
    """The fields of a message by name, with nested messages as further OrderedDicts and arrays as lists.

    Values longer than truncate_length are cut.
    """
    fields = message_definition(str(full_name(type(msg)))).fields
    return OrderedDict((field.name, _plain(getattr(msg, field.name), truncate_length)) for field in fields)


def _plain(value: Any, most: int | None) -> Any:
    if isinstance(value, (list, tuple, array, np.ndarray)):
        return _plain_items(value, most)
    if isinstance(value, (str, bytes)):
        text = value.decode("latin-1") if isinstance(value, bytes) else value
        return f"{text[:most]}..." if _cuts(text, most) else text
    if isinstance(value, (bool, int, float)):
        return value
    return message_to_ordereddict(value, truncate_length=most)


def _plain_items(value: Any, most: int | None) -> list[Any]:
    kept = value[:most] if _cuts(value, most) else value
    items = kept.tolist() if isinstance(kept, (array, np.ndarray)) else kept
    plain = [_plain(item, most) for item in items]
    return [*plain, "..."] if _cuts(value, most) else plain


def _cuts(value: Any, most: int | None) -> bool:
    return most is not None and len(value) > most

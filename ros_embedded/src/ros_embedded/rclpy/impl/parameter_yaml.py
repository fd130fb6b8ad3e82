"""Parameters in YAML, with the types that rcl gives to values in files and on command lines."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from ros_embedded.rclpy.exceptions import RCLInvalidROSArgsError

_TRUE = ("Y", "y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON")
_FALSE = ("N", "n", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF")
_INTEGER = re.compile(r"[-+]?(0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)")
_LONGEST_INTEGER = 24  # characters of an int64 in octal, with a sign
_SPECIAL = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_EXPLICIT_STRING = "tag:yaml.org,2002:str"


class _Loader(yaml.BaseLoader):
    """Keeps scalars as text, and apart those that are tagged as strings; knows no aliases."""

    def resolve(self, kind: Any, value: Any, implicit: Any) -> Any:
        return "untagged" if kind is yaml.ScalarNode else super().resolve(kind, value, implicit)

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("aliases are not supported")
        return super().compose_node(parent, index)


def parse_parameter(text: str) -> Any:
    """A parameter's value as written on a command line. Raises RCLInvalidROSArgsError."""
    nodes = _documents(text)
    if len(nodes) != 1 or isinstance(nodes[0], yaml.MappingNode):
        raise RCLInvalidROSArgsError(f"Expected a value or a list of values, got {text!r}")
    return _value(nodes[0])


def read_parameter_file(path: str) -> list[tuple[str, dict[str, Any]]]:
    """(node pattern, {name: value}) for each `ros__parameters` of a file. Raises RCLInvalidROSArgsError."""
    try:
        contents = [_value(node) for node in _documents(Path(path).read_text())]
    except (OSError, UnicodeDecodeError) as error:
        raise RCLInvalidROSArgsError(f"Couldn't read params file: {error}") from error
    if not all(isinstance(content, dict) and "ros__parameters" not in content for content in contents):
        raise RCLInvalidROSArgsError(f"Couldn't parse params file {path!r}: expected a mapping of node names")
    return [section for content in contents for section in _sections(content, "")]


def flatten(values: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """{"a": {"b": 1}} as {"a.b": 1}."""
    flat: dict[str, Any] = {}
    for key, value in values.items():
        flat |= flatten(value, f"{prefix}{key}.") if isinstance(value, dict) else {f"{prefix}{key}": value}
    return flat


def _sections(content: dict[str, Any], prefix: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for key, value in content.items():
        if not isinstance(value, dict):
            raise RCLInvalidROSArgsError(f"Expected a mapping at {prefix}/{key}, got {value!r}")
        if key == "ros__parameters":
            yield prefix, flatten(value)
        else:
            yield from _sections(value, f"{prefix}/{key.lstrip('/')}")


def _documents(text: str) -> list[yaml.Node]:
    try:
        return list(yaml.compose_all(text, Loader=_Loader))
    except (yaml.YAMLError, RecursionError) as error:
        raise RCLInvalidROSArgsError(f"Couldn't parse {text[:200]!r}: {error}") from error


def _value(node: yaml.Node) -> Any:
    if isinstance(node, yaml.ScalarNode):
        return _scalar(node)
    if isinstance(node, yaml.MappingNode):
        mapping: dict[str, Any] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise RCLInvalidROSArgsError(f"Expected a name in line {key.start_mark.line + 1}")
            mapping[key.value] = _merged(mapping.get(key.value), _value(value))
        return mapping
    if not all(isinstance(item, yaml.ScalarNode) for item in node.value):
        raise RCLInvalidROSArgsError(f"Expected a list of single values in line {node.start_mark.line + 1}")
    items = [_scalar(item) for item in node.value]
    if len({type(item) for item in items}) > 1:
        raise RCLInvalidROSArgsError(f"Sequence should be of same type: {items}")
    return items


def _merged(earlier: Any, later: Any) -> Any:
    """What is said of one key in several places is put together."""
    if not (isinstance(earlier, dict) and isinstance(later, dict)):
        return later
    return {**earlier, **{key: _merged(earlier.get(key), value) for key, value in later.items()}}


def _scalar(node: yaml.ScalarNode) -> bool | int | float | str:
    text: str = node.value
    if node.tag == _EXPLICIT_STRING or node.style in ("'", '"'):
        return text
    if not text:
        raise RCLInvalidROSArgsError(f"No value in line {node.start_mark.line + 1}")
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    match = _INTEGER.fullmatch(text)
    if match is not None and len(text) <= _LONGEST_INTEGER:
        is_octal = match[1].startswith("0") and match[1].isdigit()
        number = int(text, 8 if is_octal else 0)
        return number if -(2**63) <= number < 2**63 else float(number)
    return _number(text)


def _number(text: str) -> float | str:
    """A float, or the text where it is none or none that fits."""
    if _SPECIAL.fullmatch(text):
        return float(text.replace(".", "", 1))
    try:
        value = float(text) if text.isascii() and "_" not in text else None
    except ValueError:
        return text
    return text if value is None or (math.isinf(value) and "inf" not in text.lower()) else value

"""What one command line says of parameters: files and `-p` rules, put together as rcl puts them together.

The table has a block for each spelling of a node name, in the order of their first appearance. A node takes all blocks
that match its name; the last value counts. For example, a file has the blocks `/**` and `/**/n`, and a rule `-p x:=1`
follows. The rule's value goes into the block `/**`, so a value of `x` in the block `/**/n` wins.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from ros_embedded.rclpy.exceptions import NameValidationException, RCLInvalidROSArgsError
from ros_embedded.rclpy.impl.parameter_scalars import typed_scalar
from ros_embedded.rclpy.names import validate_namespace, validate_node_name

EVERY_NODE = "/**"
_PARAMETERS_KEY = "ros__parameters"
_WILDCARDS = ("*", "**")
_STRING_TAG = "tag:yaml.org,2002:str"
# rcl reads with libyaml, too. PyYAML without libyaml has a Python version of it, which refuses tabs after a colon.
_LOADER = getattr(yaml, "CLoader", yaml.Loader)


class ParameterTable:
    """Blocks of values by node name, which may have the wildcards `*` and `**`."""

    def __init__(self) -> None:
        self._blocks: dict[str, dict[str, Any]] = {}

    def read_file(self, path: str) -> None:
        """Add a file's parameters. Raises RCLInvalidROSArgsError."""
        try:
            text = Path(path).read_bytes()
        except (OSError, ValueError) as error:
            raise RCLInvalidROSArgsError(f"Couldn't read params file: {error}") from error
        for content in _documents(text, f"params file '{path}'"):
            if isinstance(content, _Map):
                self._read_nodes(content, "")
            elif isinstance(content, list):
                raise RCLInvalidROSArgsError(f"Couldn't parse params file '{path}': expected a map of nodes")

    def read_rule(self, node_name: str, name: str, text: str) -> None:
        """Add a parameter as written on a command line. Raises RCLInvalidROSArgsError."""
        what = f"value '{text[:200]}' of parameter '{name}'"
        contents = list(_documents(text, what)) or [[]]
        if isinstance(contents[0], _Map):
            raise RCLInvalidROSArgsError(f"Couldn't parse {what}: expected a value or a list of values")
        _set(self._blocks.setdefault(node_name, {}), name, contents[0])

    def values_of(self, full_name: str) -> dict[str, Any]:
        """The values for the node `full_name`, with its namespace; None where a parameter was named without a value."""
        values: dict[str, Any] = {}
        for node_name, block in self._blocks.items():
            if _matches(node_name, full_name):
                values |= block
        return values

    def _read_nodes(self, content: _Map, name: str) -> None:
        for key, value in content.pairs:
            if not isinstance(value, _Map):
                raise RCLInvalidROSArgsError(f"Cannot have a value before {_PARAMETERS_KEY}: '{key}'")
            if key != _PARAMETERS_KEY:
                self._read_nodes(value, f"{name}{'' if not name or name.endswith('/') else '/'}{key}")
                continue
            _check_node_name(name)
            _fill(self._blocks.setdefault(name, {}), value, "")


class _Map:
    """A map of a YAML file: its keys as text, and their values."""

    def __init__(self, events: Iterator[yaml.Event]) -> None:
        self.pairs: list[tuple[str, Any]] = []
        while not isinstance(key := next(events), yaml.MappingEndEvent):
            if not isinstance(key, yaml.ScalarEvent) or not key.value:
                raise RCLInvalidROSArgsError(f"No key at line {_line(key)}")
            self.pairs.append((key.value, _content(next(events), events)))


def _documents(text: str | bytes, what: str) -> Iterator[Any]:
    """The contents of YAML documents: a value, a list of values of one type, or a _Map."""
    try:
        events = yaml.parse(text, Loader=_LOADER)
        for event in events:
            if isinstance(event, (yaml.ScalarEvent, yaml.CollectionStartEvent, yaml.AliasEvent)):
                yield _content(event, events)
    except (yaml.YAMLError, RecursionError) as error:
        raise RCLInvalidROSArgsError(f"Couldn't parse {what}: {error}") from error


def _content(event: yaml.Event, events: Iterator[yaml.Event]) -> Any:
    if isinstance(event, yaml.ScalarEvent):
        return _scalar(event)
    if isinstance(event, yaml.MappingStartEvent):
        return _Map(events)
    if isinstance(event, yaml.AliasEvent):
        raise RCLInvalidROSArgsError(f"Will not support aliasing at line {_line(event)}")
    values = []
    while not isinstance(item := next(events), yaml.SequenceEndEvent):
        if not isinstance(item, yaml.ScalarEvent):
            raise RCLInvalidROSArgsError(f"A list has values only, at line {_line(item)}")
        values.append(_scalar(item))
    if len({type(value) for value in values}) > 1:
        raise RCLInvalidROSArgsError(f"Sequence should be of same type, at line {_line(event)}")
    return values


def _scalar(event: yaml.ScalarEvent) -> bool | int | float | str:
    text: str = event.value
    if event.style in ("'", '"') or event.tag == _STRING_TAG:
        return text
    if not text:
        raise RCLInvalidROSArgsError(f"No value at line {_line(event)}")
    return typed_scalar(text)


def _fill(block: dict[str, Any], content: _Map, prefix: str) -> None:
    """Set the parameters of a map; those of maps in it have names with dots."""
    for key, value in content.pairs:
        if isinstance(value, _Map):
            _fill(block, value, f"{prefix}{key}.")
        else:
            _set(block, prefix + key, value)


def _set(block: dict[str, Any], name: str, value: Any) -> None:
    """Set a value; an empty list, which has no type, sets none."""
    if value == []:
        block.setdefault(name, None)
    else:
        block[name] = value


def _line(event: yaml.Event) -> int:
    mark: Any = event.start_mark
    return mark.line + 1


def _check_node_name(name: str) -> None:
    """Raises RCLInvalidROSArgsError unless it is a node's name with a namespace, of which parts may be wildcards."""
    if not name:
        raise RCLInvalidROSArgsError(f"There are no node names before {_PARAMETERS_KEY}")
    *groups, node = name.removeprefix("/").split("/")
    try:
        for group in groups:
            if not group:
                raise RCLInvalidROSArgsError(f"{name} contains repeated forward slash")
            if group not in _WILDCARDS:
                validate_namespace(f"/{group}")
        if node not in _WILDCARDS:
            validate_node_name(node)
    except NameValidationException as error:
        raise RCLInvalidROSArgsError(str(error)) from error


def _matches(node_name: str, full_name: str) -> bool:
    pattern = node_name if node_name.startswith("/") else f"/{node_name}"
    return re.fullmatch(pattern.replace("/*", r"(/\w+)"), full_name) is not None

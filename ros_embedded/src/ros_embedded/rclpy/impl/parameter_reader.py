"""Reads parameters from YAML into a ParameterTable as rcl_yaml_param_parser does.

rcl follows the events of the YAML parser and builds no tree. A file must mean the same here, so these results of it
are kept:

- Each key of a group that is a map (`a: {b: 1}`) makes a new entry, even if there is one of that name. The last entry
  counts, while `-p a.b:=2` and a name with dots (`a.b: 2`) change the first.
- A value of another type does not replace the old one: both are kept, and Entry.value decides.
- `[]` sets no value. An empty map ends the parameters of its node. Any key that starts with `ros__parameters` counts as
  that key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import yaml

from ros_embedded.rclpy.exceptions import NameValidationException, RCLInvalidROSArgsError
from ros_embedded.rclpy.impl.parameter_scalars import typed_scalar
from ros_embedded.rclpy.impl.parameter_table import Block, Entry, ParameterTable
from ros_embedded.rclpy.names import validate_namespace, validate_node_name

_PARAMETERS_KEY = "ros__parameters"
_WILDCARDS = ("*", "**")
_STRING_TAG = "tag:yaml.org,2002:str"
# rcl reads with libyaml, too. PyYAML without libyaml has a Python version of it, which refuses tabs after a colon.
_LOADER = getattr(yaml, "CLoader", yaml.Loader)


def read_parameter_file(path: str, table: ParameterTable) -> None:
    """Add a file's parameters to the table. Raises RCLInvalidROSArgsError."""
    try:
        text = Path(path).read_bytes()
    except (OSError, ValueError) as error:
        raise RCLInvalidROSArgsError(f"Couldn't read params file: {error}") from error
    reader = _FileReader(table)
    for event in _events(text, f"params file '{path}'"):
        reader.read(event)


def read_parameter_value(node_name: str, name: str, text: str, table: ParameterTable) -> None:
    """Add a parameter as written on a command line. Raises RCLInvalidROSArgsError."""
    block = table.block(node_name)
    entry = block.entries[block.place_of(name)]
    value = _ValueReader()
    for event in _events(text, f"value '{text[:200]}' of parameter '{name}'"):
        if isinstance(event, yaml.ScalarEvent):
            value.take(event, entry)
        elif isinstance(event, yaml.SequenceStartEvent):
            value.start_sequence()
        elif isinstance(event, yaml.SequenceEndEvent):
            value.is_sequence = False
        elif isinstance(event, (yaml.MappingStartEvent, yaml.AliasEvent)):
            raise RCLInvalidROSArgsError(f"Couldn't parse value '{text[:200]}': expected a value or a list of values")


def _events(text: str | bytes, what: str) -> Iterator[yaml.Event]:
    try:
        yield from yaml.parse(text, Loader=_LOADER)
    except yaml.YAMLError as error:
        raise RCLInvalidROSArgsError(f"Couldn't parse {what}: {error}") from error


def _line(event: yaml.Event) -> int:
    mark: Any = event.start_mark
    return mark.line + 1


class _ValueReader:
    """Puts scalars into entries: as single values, or as elements of an array, which have one type."""

    def __init__(self) -> None:
        self.is_sequence = False
        self._array: list[Any] | None = None

    def start_sequence(self) -> None:
        self.is_sequence, self._array = True, None

    def take(self, event: yaml.ScalarEvent, entry: Entry) -> None:
        is_quoted = event.style in ("'", '"')
        if not event.value and not is_quoted:
            raise RCLInvalidROSArgsError(f"No value at line {_line(event)}")
        text = _c_string(event)
        value = text if is_quoted or event.tag == _STRING_TAG else typed_scalar(text)
        if not self.is_sequence:
            entry.set_scalar(value)
        elif self._array is None:
            self._array = entry.start_array(value)
        elif type(value) is not type(self._array[0]):
            raise RCLInvalidROSArgsError(f"Sequence should be of same type, at line {_line(event)}: '{text}'")
        else:
            self._array.append(value)


class _JoinedName:
    """Names joined by a separator. A name may contain the separator; drop_last then drops its last part only."""

    def __init__(self, separator: str) -> None:
        self._separator = separator
        self.text = ""
        self.length = 0  # number of names

    def add(self, name: str) -> None:
        if self.length == 0:
            self.text = name
        else:
            self.text += name if self.text.endswith(self._separator) else self._separator + name
        self.length += 1

    def replace(self, text: str) -> None:
        """Become `text`, which has one name more."""
        self.text, self.length = text, self.length + 1

    def drop_last(self) -> None:
        if self.length == 0:
            return
        head, separator, _ = self.text.rpartition(self._separator)
        self.text = "" if self.length == 1 else head if separator else self.text
        self.length -= 1


class _FileReader:
    """The state of reading a file: among the names of nodes, or among the parameters of one node."""

    def __init__(self, table: ParameterTable) -> None:
        self._table = table
        self._value = _ValueReader()
        self._node, self._group = _JoinedName("/"), _JoinedName(".")
        self._block: Block | None = next(iter(table.blocks.values()), None)
        self._place = 0  # the current entry in the block
        self._depth = 0  # number of open maps
        self._is_key = True
        self._is_in_parameters = False
        self._has_new_map = False  # a map has begun; the key before it names its group
        self._actions: dict[type[yaml.Event], Callable[[Any], None]] = {
            yaml.ScalarEvent: self._scalar,
            yaml.SequenceStartEvent: self._start_sequence,
            yaml.SequenceEndEvent: self._end_sequence,
            yaml.MappingStartEvent: self._start_map,
            yaml.MappingEndEvent: self._end_map,
            yaml.AliasEvent: self._refuse_alias,
        }

    def read(self, event: yaml.Event) -> None:
        action = self._actions.get(type(event))
        if action is not None:  # events of streams and documents change nothing
            action(event)

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        if not self._is_key:
            if not self._is_in_parameters or self._block is None or self._place >= len(self._block.entries):
                raise RCLInvalidROSArgsError(f"Cannot have a value before {_PARAMETERS_KEY} at line {_line(event)}")
            self._value.take(event, self._block.entries[self._place])
            self._is_key = not self._value.is_sequence
            return
        if not event.value:
            raise RCLInvalidROSArgsError(f"No key at line {_line(event)}")
        key = _c_string(event)
        if self._is_in_parameters:
            self._name_parameter(key, event)
        elif key.startswith(_PARAMETERS_KEY):
            self._enter_parameters(event)
        else:
            self._node.add(key)
        self._is_key = False

    def _enter_parameters(self, event: yaml.Event) -> None:
        if self._node.length == 0:
            raise RCLInvalidROSArgsError(f"There are no node names before {_PARAMETERS_KEY} at line {_line(event)}")
        _check_node_name(self._node.text)
        self._block = self._table.block(self._node.text)
        self._node.drop_last()
        self._is_in_parameters = True

    def _name_parameter(self, key: str, event: yaml.Event) -> None:
        assert self._block is not None, "there is a block wherever there are parameters"
        entries = self._block.entries
        if self._has_new_map:
            if self._place >= len(entries):
                raise RCLInvalidROSArgsError(f"A map without a name at line {_line(event)}")
            self._group.replace(entries[self._place].name)
            self._has_new_map = False
        if self._group.length == 0:
            self._place = self._block.place_of(key)
        else:
            self._place = self._block.place_of(self._group.text)
            entries[self._place].name = f"{self._group.text}.{key}"

    def _start_sequence(self, event: yaml.SequenceStartEvent) -> None:
        if self._is_key or not self._is_in_parameters:
            raise RCLInvalidROSArgsError(f"Sequences can only be values of parameters, at line {_line(event)}")
        self._value.start_sequence()

    def _end_sequence(self, _: yaml.SequenceEndEvent) -> None:
        self._value.is_sequence, self._is_key = False, True

    def _start_map(self, _: yaml.MappingStartEvent) -> None:
        self._depth += 1
        self._is_key = True
        is_map_of_parameters = self._is_in_parameters and self._depth == self._node.length + 3
        self._has_new_map = not is_map_of_parameters

    def _end_map(self, _: yaml.MappingEndEvent) -> None:
        if self._is_in_parameters and self._group.length > 0:
            self._group.drop_last()
        elif self._is_in_parameters:
            self._is_in_parameters = False
        elif self._depth == self._node.length + 1:
            self._node.drop_last()
        self._depth -= 1

    def _refuse_alias(self, event: yaml.AliasEvent) -> None:
        raise RCLInvalidROSArgsError(f"Will not support aliasing at line {_line(event)}")


def _c_string(event: yaml.ScalarEvent) -> str:
    """The text up to the first NUL, where C's ends."""
    text: str = event.value
    return text.partition("\0")[0]


def _check_node_name(name: str) -> None:
    """Raises RCLInvalidROSArgsError unless it is a node's name with a namespace, of which parts may be wildcards."""
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

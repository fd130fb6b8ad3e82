"""What one command line says of parameters, kept and looked up as rcl does (rcl_yaml_param_parser, rclpy's node.cpp).

Files and `-p` rules of a command line fill one table, in their order. A node takes the blocks that match its name in
the order in which their names first appeared, a later block's value over an earlier one's. So a rule for `/**` does
not win over a block `/**/n`, if a file before both had a block `/**`: the rule went into that one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

EVERY_NODE = "/**"
_ARRAY = 5  # between the numbers of a type and of its array in rcl_interfaces/msg/ParameterType
_TYPE_NUMBERS = {bool: 1, int: 2, float: 3, str: 4}


@dataclass(eq=False)
class Entry:
    """A parameter of a block: its name, and the last value of each type that it was given."""

    name: str
    _values: dict[int, Any] = field(default_factory=dict)

    @property
    def value(self) -> Any:
        """The value of the first type among those given, in ParameterType's order; None without any."""
        return self._values[min(self._values)] if self._values else None

    def set_scalar(self, value: bool | int | float | str) -> None:
        self._values[_TYPE_NUMBERS[type(value)]] = value

    def start_array(self, first: bool | int | float | str) -> list[Any]:
        """Begin an array, in place of an earlier one of its type."""
        array = self._values[_ARRAY + _TYPE_NUMBERS[type(first)]] = [first]
        return array


class Block:
    """The parameters under one node name. A name can be there twice: then the later entry counts."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []

    def place_of(self, name: str) -> int:
        """Where the first entry of that name is; it is added if there is none."""
        for place, entry in enumerate(self.entries):
            if entry.name == name:
                return place
        self.entries.append(Entry(name))
        return len(self.entries) - 1


class ParameterTable:
    """Blocks by node name, which may have the wildcards `*` and `**`."""

    def __init__(self) -> None:
        self.blocks: dict[str, Block] = {}

    def block(self, node_name: str) -> Block:
        return self.blocks.setdefault(node_name, Block())

    def values_of(self, full_name: str) -> dict[str, Any]:
        """The values for the node `full_name`, with its namespace; None where a parameter was named without a value."""
        return {
            entry.name: entry.value
            for node_name, block in self.blocks.items()
            if _matches(node_name, full_name)
            for entry in block.entries
        }


def _matches(node_name: str, full_name: str) -> bool:
    pattern = node_name if node_name.startswith("/") else f"/{node_name}"
    return re.fullmatch(pattern.replace("/*", r"(/\w+)"), full_name) is not None

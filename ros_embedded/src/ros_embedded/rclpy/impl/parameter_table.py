"""What one command line says of parameters, kept and looked up as rcl does (rcl_yaml_param_parser, rclpy's node.cpp).

The files and `-p` rules of a command line fill one table, in their order. The table has a block for each spelling of
a node name, in the order of first appearance. A node takes all blocks that match its name; the last value counts.

For example, a file has the blocks `/**` and `/**/n`, and a rule `-p x:=1` follows. The rule's value goes into the block
`/**`, so a value of `x` in the block `/**/n` wins.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

EVERY_NODE = "/**"
_ARRAY = 5  # from the number of a type to that of its array in rcl_interfaces/msg/ParameterType
_TYPE_NUMBERS = {bool: 1, int: 2, float: 3, str: 4}


@dataclass(eq=False)
class Entry:
    """A parameter of a block: its name, and the latest value of each type."""

    name: str
    _values: dict[int, Any] = field(default_factory=dict)

    @property
    def value(self) -> Any:
        """The value whose type has the least number in rcl_interfaces/msg/ParameterType; None without a value."""
        return self._values[min(self._values)] if self._values else None

    def set_scalar(self, value: bool | int | float | str) -> None:
        self._values[_TYPE_NUMBERS[type(value)]] = value

    def start_array(self, first: bool | int | float | str) -> list[Any]:
        """Begin an array, which replaces an earlier one of its type; return it."""
        array = self._values[_ARRAY + _TYPE_NUMBERS[type(first)]] = [first]
        return array


class Block:
    """The parameters of one node name. Two entries may have one name; the later one counts."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []

    def place_of(self, name: str) -> int:
        """The index of the first entry of that name, which is added if there is none."""
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

"""How a skill call names an object: by id, by class, or as "Class@x,y,z".

The last form is a remembered object, by its class and its position in map (metres).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.geometry import POSITION_LIMIT_M


@dataclass(frozen=True)
class ObjectReference:
    """A parsed object argument: an opaque id, or a class with or without a position (x, y, z) in map, metres."""

    text: str
    object_class: str
    position: tuple[float, float, float] | None = None

    @classmethod
    def parse(cls, text: str) -> ObjectReference:
        """Read "Class@x,y,z", or take the whole text as id or class.

        Raises:
            InvalidValueError: there is an "@" but no three numbers behind it, or such as no home has.
        """
        name, mark, numbers = text.partition("@")
        if not mark:
            return cls(text, text)
        try:
            x, y, z = (float(number) for number in numbers.split(","))
        except ValueError:
            raise InvalidValueError(f"object {text!r}: expected Class@x,y,z with numbers in metres") from None
        if not all(abs(value) <= POSITION_LIMIT_M for value in (x, y, z)):  # not a number is not less, either
            raise InvalidValueError(f"object {text!r}: expected Class@x,y,z within {POSITION_LIMIT_M / 1000:g} km")
        return cls(text, name, (x, y, z))

    @classmethod
    def at(cls, object_class: str, position: Iterable[float]) -> ObjectReference:
        """Return the reference to a remembered object, grounded by class and position (x, y, z) in map."""
        x, y, z = (float(value) for value in position)
        return cls(f"{object_class}@{x:.3f},{y:.3f},{z:.3f}", object_class, (x, y, z))

    def __str__(self) -> str:
        return self.text

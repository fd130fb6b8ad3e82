"""A domain class and its message, told once: both ways between them follow."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import fields
from enum import Enum
from functools import partial
from operator import attrgetter
from typing import Any, Generic, NamedTuple, TypeVar

from memory_node.nodes.conversions.geometry import point_from_msg, point_to_msg, stamp_from_msg, stamp_to_msg
from memory_node.nodes.conversions.ranges import checked_items, checked_member

Domain = TypeVar("Domain")


class Part(NamedTuple):
    """A field of a message.

    name: "header.stamp" for a part of a part; "": as in the domain class. to_msg: makes its value from the domain's.
    from_msg: the reverse; it gets the name, too, for errors. None: the value goes as it is.
    """

    name: str = ""
    to_msg: Callable[[Any], Any] | None = None
    from_msg: Callable[[str, Any], Any] | None = None


def stamp(name: str) -> Part:
    """Return a field with a Time, which the domain has in nanoseconds."""
    return Part(name, stamp_to_msg, lambda what, value: stamp_from_msg(value, what))


def member(kind: type[Enum]) -> Part:
    """Return a field with the name of a member of an enumeration."""
    return Part("", str, partial(checked_member, kind))


def several(to_msg: Callable[[Any], Any], from_msg: Callable[[Any], Any], most: int = sys.maxsize) -> Part:
    """Return a field with a list of messages, of which there may be so many."""

    def read(what: str, values: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(map(from_msg, checked_items(what, values, most)))

    return Part("", lambda values: list(map(to_msg, values)), read)


# Of which the domain has x and y alone.
PLACE = Part("", point_to_msg, lambda what, value: point_from_msg(value, what)[:2])
TEXTS = Part("", list, lambda what, value: tuple(value))
NAMES = Part("", sorted, lambda what, value: frozenset(value))


class _Field:
    """Where a field of the domain is in a message, ready to be read and set."""

    def __init__(self, name: str, part: Part) -> None:
        self.name = name
        self.path = part.name or name
        way, _, self.told = self.path.rpartition(".")
        self.read = attrgetter(self.path)
        self.owner = attrgetter(way) if way else None
        self.to_msg, self.from_msg = part.to_msg, part.from_msg


class Paired(Generic[Domain]):
    """Turns a frozen dataclass into a message, and back.

    What `parts` does not name goes as it is where both have a field of the same name, and else not at all. A part may
    tell a property of the dataclass, too, which is not read back.
    """

    def __init__(self, domain: type[Domain], message: Any, /, **parts: Part) -> None:
        self._domain, self._message = domain, message
        known = message.get_fields_and_field_types()
        names = [one.name for one in fields(domain)]  # type: ignore[arg-type]
        told = {**{name: Part() for name in names if name in known}, **parts}
        self._fields = [_Field(name, part) for name, part in told.items()]
        self._read = [field for field in self._fields if field.name in names]

    def to_msg(self, value: Domain, /, **more: Any) -> Any:
        """Return a message; `more`: what it has besides or instead, by the message's names."""
        return self.fill(self._message(), value, **more)

    def fill(self, msg: Any, value: Domain, /, **more: Any) -> Any:
        """Tell a value in a message that may have more fields, the response of a service for example; return it."""
        for name, told in more.items():
            setattr(msg, name, told)
        for field in self._fields:
            if field.path not in more:
                told = getattr(value, field.name)
                owner = msg if field.owner is None else field.owner(msg)
                setattr(owner, field.told, told if field.to_msg is None else field.to_msg(told))
        return msg

    def from_msg(self, msg: Any, /, **more: Any) -> Domain:
        """Return the domain's value; `more`: what it has besides or instead, by the domain's names.

        Raises:
            InvalidValueError: a field is none that memory could work with; it names the field.
        """
        values = dict(more)
        for field in self._read:
            if field.name not in more:
                told = field.read(msg)
                values[field.name] = told if field.from_msg is None else field.from_msg(field.told, told)
        return self._domain(**values)

"""What one call of Explore asks for: a class, where to look for it in order, and which of its things do not count."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.skill import SkillCall

_PASSED_OVER = "not:"


@dataclass(frozen=True)
class Exploration:
    """Explore, read.

    target_class: what to look for. stops: areas' ids, places "x,y" in map, or containers, in order. passed_over: ids
    of things of the class that do not count, such as the first of two that are to be fetched. A robot that does not
    know an id passes over nothing for it.
    """

    target_class: str
    stops: tuple[str, ...] = ()
    passed_over: frozenset[str] = frozenset()

    @classmethod
    def of(cls, call: SkillCall) -> Exploration:
        """Read a call's arguments: `not:ID` is passed over, every other one behind the class is a stop.

        Raises:
            InvalidValueError: nothing is looked for.
        """
        if not call.arguments:
            raise InvalidValueError(f"{call}: expected the class to look for")
        wanted, *others = call.arguments
        passed_over = (text.removeprefix(_PASSED_OVER) for text in others if text.startswith(_PASSED_OVER))
        stops = (text for text in others if not text.startswith(_PASSED_OVER))
        return cls(wanted, tuple(stops), frozenset(passed_over))

    @property
    def call(self) -> SkillCall:
        """The call that asks for it."""
        passed_over: Iterable[str] = (f"{_PASSED_OVER}{one}" for one in sorted(self.passed_over))
        return SkillCall("Explore", (self.target_class, *self.stops, *passed_over))

"""A subgoal in words, as the planner writes goals ("heat Mug to Fridge"), taken apart into its parts."""

from __future__ import annotations

import re
from dataclasses import dataclass

_PART = re.compile(r"(?:(?P<role>to|in|with) )?(?P<name>[A-Z]\w*)")
_ROLES = {None: "target", "to": "destination", "in": "container", "with": "light"}


@dataclass(frozen=True)
class Subgoal:
    """kind: its first word. The other parts are classes, "" where it names none."""

    kind: str
    target: str = ""
    destination: str = ""
    container: str = ""
    light: str = ""

    @classmethod
    def parse(cls, text: str) -> Subgoal:
        """Return the parts of a goal's words; a text of another form has only a kind."""
        kind, _, rest = text.partition(" ")
        parts: dict[str, str] = {}
        for match in _PART.finditer(rest):
            parts.setdefault(_ROLES[match["role"]], match["name"])
        return cls(kind, **parts)

    @property
    def classes(self) -> frozenset[str]:
        """All classes that it names."""
        return frozenset({self.target, self.destination, self.container, self.light} - {""})

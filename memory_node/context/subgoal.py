"""A subgoal in words, as the planner writes goals ("heat Mug to Fridge"), taken apart into its parts."""

from __future__ import annotations

import re
from dataclasses import dataclass

from memory_node.domain.skill import SkillCall

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

    def filled(self, skill: str, is_held: bool) -> SkillCall | None:
        """Return a skill with its usual arguments in this subgoal; None where the subgoal does not name them.

        is_held: whether the target is in the hand, so that driving means to where it ends.
        """
        carried = self.container or self.target
        arguments = {
            "GoToObject": (self.destination or self.light if is_held else self.target,),
            "PutObject": (carried, self.destination),
            "OpenObject": (self.destination or self.target,),
            "CloseObject": (self.destination or self.target,),
            "ToggleOn": (self.light or self.target,),
            "SwitchOn": (self.light or self.target,),
            "ToggleOff": (self.light or self.target,),
            "SwitchOff": (self.light or self.target,),
        }.get(skill, (self.target,))
        return SkillCall(skill, arguments) if all(arguments) else None

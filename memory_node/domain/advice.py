"""What experience recommends before an action, in a form that a planner can carry out."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from memory_node.domain.skill import SkillCall
from memory_node.domain.skill_library import SKILLS


class AdviceSource(str, enum.Enum):
    """Which memory an advice comes from."""

    WORKING = "working"
    EPISODIC = "episodic"
    SEMANTIC = "semantic"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True)
class Advice:
    """Do `before` before the action. Its arguments are classes, or "{name}": the action's own argument of that name.

    again: the action has just failed by chance; it is worth making once more as it is.
    """

    source: AdviceSource
    text: str
    before: tuple[SkillCall, ...] = ()
    again: bool = False


def bind(template: SkillCall, action: SkillCall) -> SkillCall | None:
    """Return a template with the action's own arguments; None: the action lacks an argument that it names."""
    skill = SKILLS.get(action.skill)
    names = [argument.name for argument in skill.arguments] if skill else []
    own = {"{" + name + "}": value for name, value in zip(names, action.arguments)}
    bound = tuple(own.get(text, text) for text in template.arguments)
    return None if any(text.startswith("{") for text in bound) else SkillCall(template.skill, bound)

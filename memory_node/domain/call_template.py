"""Templates of calls: what prepares for a skill, over the names of that skill's own arguments."""

from __future__ import annotations

from memory_node.domain.skill import SkillCall
from memory_node.domain.skill_library import SKILLS


def bind(template: SkillCall, action: SkillCall) -> SkillCall | None:
    """Return a template with the action's own arguments for "{name}"; None: the action lacks one that it names."""
    skill = SKILLS.get(action.skill)
    names = [argument.name for argument in skill.arguments] if skill else []
    own = {"{" + name + "}": value for name, value in zip(names, action.arguments)}
    bound = template.renamed(own)
    return None if any(text.startswith("{") for text in bound.arguments) else bound

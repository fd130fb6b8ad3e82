"""The skill library in words, for prompts and docs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from memory_node.domain.skill_declaration import Skill
from memory_node.domain.skill_library import SKILLS

_STEPS_TEXT = (
    "GoToObject(fixture), PutObject(object, fixture), PickupObject(object); in between ToggleOn and ToggleOff of what "
    "turns the fixture on, and OpenObject and CloseObject of a fixture with a door"
)


def library_text(
    skills: Iterable[Skill] = tuple(SKILLS.values()),
    classes: Mapping[str, Sequence[str]] = MappingProxyType({}),
    brief: bool = False,
) -> str:
    """Return the library as Markdown: one entry a skill, for prompts and docs.

    classes: by skill, the classes of the places where it is done and of the tools that it needs. brief: how each is
    called and what it does, and no more.
    """
    if brief:
        return "\n".join(f"- `{skill.signature}`: {skill.summary}" for skill in skills)
    entries = []
    for skill in skills:
        needs = "; ".join(f"{rule.fact} [else {rule.reason}: {rule.remedy}]" for rule in skill.preconditions)
        effects = "; ".join(str(fact) for fact in skill.effects)
        lines = [f"- `{skill.signature}`: {skill.summary}. About {skill.nominal_s:g} s."]
        lines += [f"  - needs: {needs}"] if needs else []
        lines += [f"  - at or with: {', '.join(classes[skill.name])}"] if classes.get(skill.name) else []
        lines += [f"  - afterwards: {effects}"]
        lines += [f"  - made of: {_STEPS_TEXT}"] if skill.composite else []
        entries.append("\n".join(lines))
    return "\n".join(entries)

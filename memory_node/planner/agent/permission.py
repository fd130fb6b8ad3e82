"""Which calls the goals permit: what is handled must be in a goal, a tool of one, or what one is done at."""

from __future__ import annotations

from collections.abc import Sequence

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.skill import SkillCall
from memory_node.domain.skill_declaration import Skill
from memory_node.lessons.lesson import Lesson, LessonKind
from memory_node.planner.goal import Goal
from memory_node.planner.permitted_skills import licensed_skills
from memory_node.planner.plan_audit import PlanAudit

# They move the robot alone.
_ONLY_REACH = frozenset({"Explore", "GoToObject"})
_REMEDY = "if the instruction asks for it, add a goal with set_goals that quotes its words"


def refusal(
    skill: Skill,
    named: SkillCall,
    object_class: str,
    goals: Sequence[Goal],
    kinds: ObjectCatalogue,
    lessons: Sequence[Lesson] = (),
) -> str:
    """Return why a call over names is not made, "" where it is permitted. object_class: of its first argument; lessons:
    what earlier tries taught, which permits what it says to do first."""
    if skill.name in _ONLY_REACH:
        return ""
    if not goals:
        return f"{named}: say the goals first, with set_goals"
    if _is_taught(skill, object_class, goals, kinds, lessons):
        return ""
    if skill not in licensed_skills(goals, kinds):
        return f"{named}: no goal asks for {skill.name}; {_REMEDY}"
    if PlanAudit(tuple(goals), kinds).objection(named, object_class):
        return f"{named}: no goal is about {object_class}; {_REMEDY}"
    return ""


def _is_taught(
    skill: Skill, object_class: str, goals: Sequence[Goal], kinds: ObjectCatalogue, lessons: Sequence[Lesson]
) -> bool:
    """Return whether the robot has learnt that a skill of these goals works after this one with such a thing."""
    served = {one.name for one in licensed_skills(goals, kinds)}
    return any(
        (one.skill, one.thing_class) == (skill.name, object_class)
        for lesson in lessons
        if lesson.kind is LessonKind.WAY and lesson.skill in served
        for one in lesson.before
    )

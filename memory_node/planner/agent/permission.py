"""Which calls the goals permit: what is handled must be in a goal, a tool of one, or what one is done at."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.catalogue.object_kind import Property
from memory_node.domain.skill import SkillCall
from memory_node.domain.skill_declaration import Skill
from memory_node.domain.skill_library import SKILLS
from memory_node.lessons.lesson import Lesson, LessonKind
from memory_node.planner.goal import Goal
from memory_node.planner.permitted_skills import PlanAudit, licensed_skills

# They move the robot alone.
_ONLY_REACH = frozenset({"Explore", "GoToObject"})
# Does a thing that is handled no harm, and is the means to many ends: a knife is washed before it cuts.
_GENTLE = frozenset({"CleanObject"})
_REMEDY = (
    "if the instruction asks for it, add a goal with set_goals that quotes its words; else a lesson must ask for it"
)


def refusal(
    skill: Skill,
    named: SkillCall,
    object_class: str,
    goals: Sequence[Goal],
    kinds: ObjectCatalogue,
    lessons: Callable[[], Sequence[Lesson]],
    made: Iterable[SkillCall] = (),
    is_in_way: bool = False,
) -> str:
    """Return why a call over names is not made, "" where it is permitted. object_class: of its first argument; lessons:
    tells what earlier tries taught, which permits what it says to do first; asked only where the goals do not; made:
    calls over names that the robot has made with success since it was told what to do, each of which may be undone;
    is_in_way: the thing may be taken away from where a goal needs room."""
    # In the dark nothing is found, and light harms nothing.
    is_light = object_class in kinds and kinds[object_class].can(Property.LIGHT)
    if skill.name in _ONLY_REACH or (skill.name == "SwitchOn" and is_light):
        return ""
    if not goals:
        return f"{named}: say the goals first, with set_goals"
    if any(one.arguments[:1] == named.arguments[:1] and _undoes(skill, SKILLS[one.skill]) for one in made):
        return ""
    licensed, why = licensed_skills(goals, kinds), ""
    if skill not in licensed and skill.name not in _GENTLE:
        why = f"{named}: no goal asks for {skill.name}; {_REMEDY}"
    elif not is_in_way and (objection := PlanAudit(tuple(goals), kinds).objection(named, object_class)):
        why = f"{objection}; {_REMEDY}"
    return "" if why and _is_taught(skill, object_class, licensed, lessons()) else why


def _is_taught(skill: Skill, object_class: str, licensed: Sequence[Skill], lessons: Sequence[Lesson]) -> bool:
    """Return whether the robot has learnt that a licensed skill works after this one with such a thing, or after one
    that this one undoes."""
    served = {one.name for one in licensed}
    taught = {skill.name, *(name for name, other in SKILLS.items() if _undoes(skill, other))}
    return any(
        one.skill in taught and one.thing_class == object_class
        for lesson in lessons
        if lesson.kind is LessonKind.REPAIR and lesson.skill in served
        for one in lesson.before
    )


def _undoes(skill: Skill, other: Skill) -> bool:
    """Return whether a skill ends what another one brings about, and the other way round: they open and close."""
    undone = {(fact.state, not fact.value) for fact in other.effects if fact.state is not None}
    return bool(undone) and undone == {(fact.state, fact.value) for fact in skill.effects if fact.state is not None}

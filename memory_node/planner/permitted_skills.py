"""Which skills an instruction permits: a skill that changes a thing is allowed only if it was asked for.

A label, a note or a reply that a stranger wrote may tell a language model to break a mug. The goals are read from the
instruction alone, so no such text adds a skill here.
"""

from __future__ import annotations

from collections.abc import Sequence

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.goal_labels import GOALS, GoalKind
from memory_node.domain.skill_library import SKILLS, Skill
from memory_node.planner.goal import Goal

_FREE = frozenset({"PickupObject", "OpenObject", "CloseObject"})
# skill -> the goals that ask for it; all other skills only move the robot and what it carries, or open and close.
_ASKED_BY: dict[str, frozenset[GoalKind]] = {
    skill: asking
    for skill in SKILLS.keys() - _FREE
    if (asking := frozenset(kind for kind, goal in GOALS.items() if skill in (*goal.skills, *goal.permits)))
}


def wants_pieces(goal: Goal, kinds: ObjectCatalogue) -> bool:
    """Return whether a goal needs a cut before: it is about pieces, or its treatment is, such as toasting."""
    treatment = kinds.treatment(goal.treatment)
    return goal.sliced or (treatment is not None and treatment.pieces)


def licensed_skills(goals: Sequence[Goal], kinds: ObjectCatalogue) -> tuple[Skill, ...]:
    """Return the skills that may serve these goals, in the library's order; without goals those that can be undone."""
    if not goals:
        return tuple(skill for skill in SKILLS.values() if skill.undoable)
    wanted = {goal.kind for goal in goals}
    if any(wants_pieces(goal, kinds) for goal in goals):
        wanted.add(GoalKind.SLICE)
    return tuple(skill for skill in SKILLS.values() if _ASKED_BY.get(skill.name, frozenset(wanted)) & wanted)

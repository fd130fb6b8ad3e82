"""Which skills an instruction permits: a skill that changes a thing is allowed only if it was asked for.

A label, a note or a reply that a stranger wrote may tell a language model to break a mug. The goals are read from the
instruction alone, so no such text adds a skill here.
"""

from __future__ import annotations

from collections.abc import Sequence

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.goal_labels import GOAL_OF_SKILL, GoalKind
from memory_node.domain.skill_library import SKILLS, Skill
from memory_node.planner.goal import Goal

_SWITCHED = frozenset({GoalKind.SWITCH_ON, GoalKind.SWITCH_OFF})
# Treatments may be done by hand: a pot on a burner that is turned on and off.
_TREATED = frozenset({GoalKind.HEAT, GoalKind.CLEAN, GoalKind.FILL})
# skill -> the goals that ask for it; all other skills only move the robot and what it carries, or open and close.
_ASKED_BY: dict[str, frozenset[GoalKind]] = {
    **{skill: frozenset({goal}) for skill, goal in GOAL_OF_SKILL.items()},
    "BreakObject": frozenset({GoalKind.BREAK}),
    "ThrowObject": frozenset({GoalKind.THROW}),
    **dict.fromkeys(("SwitchOn", "SwitchOff"), _SWITCHED | {GoalKind.EXAMINE}),
    **dict.fromkeys(("ToggleOn", "ToggleOff"), _SWITCHED | _TREATED),
}
_CANNOT_BE_UNDONE = frozenset({"BreakObject", "ThrowObject", "SliceObject", "EmptyObject"})


def wants_pieces(goal: Goal, kinds: ObjectCatalogue) -> bool:
    """Return whether a goal needs a cut before: it is about pieces, or its treatment is, such as toasting."""
    treatment = kinds.treatment(goal.treatment)
    return goal.sliced or (treatment is not None and treatment.pieces)


def is_always_permitted(skill: Skill) -> bool:
    """Return whether a skill may serve any goal: it moves the robot and what it carries, or opens and closes."""
    return skill.name not in _ASKED_BY


def licensed_skills(goals: Sequence[Goal], kinds: ObjectCatalogue) -> tuple[Skill, ...]:
    """Return the skills that may serve these goals, in the library's order; without goals those that can be undone."""
    if not goals:
        return tuple(skill for skill in SKILLS.values() if skill.name not in _CANNOT_BE_UNDONE)
    wanted = {goal.kind for goal in goals}
    if any(wants_pieces(goal, kinds) for goal in goals):
        wanted.add(GoalKind.SLICE)
    return tuple(skill for skill in SKILLS.values() if _ASKED_BY.get(skill.name, frozenset(wanted)) & wanted)

"""The remedy that the skill library declares for a failed action."""

from __future__ import annotations

from memory_node.domain.skill import FailureReason, SkillCall
from memory_node.domain.skill_declaration import Precondition, Predicate
from memory_node.domain.skill_library import SKILLS
from memory_node.world import failures
from memory_node.world.skills import establishing

_OF_THE_ROBOT = frozenset({Predicate.NEAR, Predicate.HOLDING, Predicate.HOLDING_TOOL, Predicate.HAND_EMPTY})


def broken_rules(action: SkillCall, reason: FailureReason) -> tuple[Precondition, ...]:
    """Return the declared preconditions whose absence makes the action fail for this reason."""
    skill = SKILLS.get(action.skill)
    return failures.broken_rules(skill, reason) if skill is not None else ()


def remedy_of_rule(rule: Precondition) -> tuple[SkillCall, ...]:
    """Return the calls that establish a precondition, as templates; () where the library names no single skill."""
    return establishing(rule.fact)


def declared_remedy(action: SkillCall, reason: FailureReason) -> tuple[SkillCall, ...]:
    """Return the templates that the skill library offers against a failure; () when it offers none."""
    remedies = (remedy_of_rule(rule) for rule in broken_rules(action, reason))
    return next((remedy for remedy in remedies if remedy), ())


def is_of_the_robot(action: SkillCall, reason: FailureReason) -> bool:
    """Return whether what was missing is a fact about the robot, which every thing needs alike."""
    rules = broken_rules(action, reason)
    return bool(rules) and all(rule.fact.predicate in _OF_THE_ROBOT for rule in rules)

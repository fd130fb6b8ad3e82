"""Lifts actions to object classes, so that episodes in different places can be compared."""

from __future__ import annotations

from memory_node.domain.skill import SkillCall
from memory_node.domain.step import StepRecord


def class_call(call: SkillCall) -> SkillCall:
    """Return the call with its object arguments as classes; the places that Explore was given are dropped."""
    names = tuple(text.partition("@")[0] for text in call.arguments if "," not in text.partition("@")[0])
    return SkillCall(call.skill, names[:1] if call.skill == "Explore" else names)


def class_arguments(step: StepRecord) -> tuple[str, ...]:
    """Return a step's object arguments as classes."""
    return class_call(step.action).arguments


def class_action(step: StepRecord) -> str:
    """Return a step's action with its arguments lifted to classes, as text."""
    return str(class_call(step.action))

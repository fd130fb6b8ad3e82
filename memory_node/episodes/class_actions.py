"""Lifts calls to object classes, so that episodes in different places can be compared, and finds repetitions."""

from __future__ import annotations

from collections.abc import Sequence

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


# (length of a cycle, repetitions): the same call three times, or a short cycle twice.
_CYCLES = ((1, 3), (2, 2), (3, 2))


def repeated(calls: Sequence[SkillCall]) -> tuple[SkillCall, ...]:
    """Return the calls of a cycle that the last calls go through; () for none.

    Success does not matter: opening and closing a drawer makes no progress, either.
    """
    for length, times in _CYCLES:
        last = tuple(calls[-length * times :])
        if len(last) == length * times and last == last[:length] * times:
            return tuple(dict.fromkeys(last[:length]))
    return ()

"""Finds repetitions in an executor's steps that make no progress."""

from __future__ import annotations

from collections.abc import Sequence

from memory_node.context.step_observation import TakenStep
from memory_node.domain.skill import SkillCall

# (length of a cycle, repetitions): the same call three times, or a short cycle twice.
_CYCLES = ((1, 3), (2, 2), (3, 2))


def repeated(recent: Sequence[TakenStep], proposed: SkillCall | None = None) -> tuple[SkillCall, ...]:
    """Return the calls of a cycle that the last steps, and the next one where it is chosen, go through; () for none.

    Success does not matter: opening and closing a drawer makes no progress, either.
    """
    calls = [step.call for step in recent] + ([proposed] if proposed is not None else [])
    for length, times in _CYCLES:
        last = calls[-length * times :]
        if len(last) == length * times and last == last[:length] * times:
            return tuple(dict.fromkeys(last[:length]))
    return ()

"""Finds repetitions in a sequence of calls that make no progress."""

from __future__ import annotations

from collections.abc import Sequence

from memory_node.domain.skill import SkillCall

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

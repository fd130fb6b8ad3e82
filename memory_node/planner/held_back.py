"""Keeps a model from doing again what it has just done in vain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable

from memory_node.context.loop_detection import repeated
from memory_node.context.step_observation import TakenStep
from memory_node.domain.skill import SkillCall, SkillResult

# A call may be made so often while nothing changes: to go back to a thing once is no loop.
_MOST_TIMES = 2
# Loops are looked for in so many of the last steps; the longest one takes six.
_WINDOW = 12


class HeldBack:
    """Follows the steps of one instruction. It holds back what would close a loop, and what was done twice since the
    home was last as it had not been before: what is put back where it was is no progress."""

    def __init__(self) -> None:
        self._taken: list[TakenStep] = []
        self._since_change: Counter[SkillCall] = Counter()
        self._states: set[Hashable] = set()

    def note(self, call: SkillCall, result: SkillResult, state: Hashable) -> None:
        """Take in a step over names. state: what is believed after it, but for where the robot stands."""
        if state not in self._states:
            self._since_change.clear()
        self._states.add(state)
        self._since_change[call] += 1
        self._taken = [*self._taken[-_WINDOW:], TakenStep(call, result.success, result.reason)]

    def holds(self, call: SkillCall) -> bool:
        """Return whether a call is not to be made now."""
        return self._since_change[call] >= _MOST_TIMES or bool(repeated(self._taken, call))

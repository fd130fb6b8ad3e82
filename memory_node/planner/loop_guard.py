"""Keeps a model from repeating calls that made no progress."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable

from memory_node.domain.skill import SkillCall
from memory_node.episodes.repetition import repeated

# Times that a call may be made while nothing changes: going back to a thing once is no loop.
_MOST_TIMES = 2
# Last steps in which loops are looked for; the longest loop has six.
_WINDOW = 12


class LoopGuard:
    """Follows the steps of one instruction. It holds back calls that would close a loop, and calls that were made twice
    since the home last reached a new state. Putting a thing back where it was is no new state. A drive counts for
    itself alone: it makes no other call new, and none a repetition."""

    def __init__(self) -> None:
        self._taken: list[SkillCall] = []
        self._since_change: Counter[SkillCall] = Counter()
        self._states: set[Hashable] = set()

    def note(self, call: SkillCall, state: Hashable) -> None:
        """Take in a step over names. state: what is believed after it, but for where the robot stands."""
        if state not in self._states:
            self._since_change.clear()
        self._states.add(state)
        self._since_change[call] += 1
        if call.skill != "GoToObject":
            self._taken = [*self._taken[-_WINDOW:], call]

    def holds(self, call: SkillCall) -> bool:
        """Return whether a call is not to be made now."""
        is_loop = call.skill != "GoToObject" and bool(repeated([*self._taken, call]))
        return is_loop or self._since_change[call] >= _MOST_TIMES

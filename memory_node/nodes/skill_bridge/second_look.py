"""Checks the result of a skill: the camera sees the thing once more, with the arm out of the way."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from memory_node.domain.geometry import FloatArray
from memory_node.domain.states import ObjectState
from memory_node.nodes.skill_bridge.outcome import SkillRun
from memory_node.nodes.skill_bridge.target import Target, TargetLookup

_POLL_S = 0.25
# Accepted distance of a thing from the place where it was put (m).
_THERE_M = 0.2
# A thing of the same class within this distance of the place is the one that fell (m).
_FELL_WITHIN_M = 1.5


@dataclass(frozen=True, eq=False)
class SecondLook:
    """Asks memory what it has seen since.

    Args:
        lookup: memory as the skills see it.
        now_ns: the clock of the pictures' stamps.
        look_s: how long memory may take to see a thing; 0: nothing is looked at.
        pause: waits so many seconds.
    """

    lookup: TargetLookup
    now_ns: Callable[[], int]
    look_s: float
    pause: Callable[[float], None] = time.sleep

    @property
    def looks(self) -> bool:
        """Whether anything is looked at."""
        return self.look_s > 0.0

    def is_now(self, target: Target, state: ObjectState, run: SkillRun) -> bool | None:
        """Return whether a thing is seen in a state; None: it is not seen, or not in which state it is."""

        def told(seen: list[Target]) -> bool | None:
            same = _find(seen, target)
            if same is None or not same.states & {state, *state.opposites}:
                return None
            return state in same.states

        return self._until(target.object_class, told, run)

    def again(self, target: Target, run: SkillRun) -> Target:
        """Return a thing as memory has it once it was seen again; as it was when it is not."""
        self._until(target.object_class, lambda seen: True if _find(seen, target) else None, run)
        return self.lookup.renewed(target)

    def known(self, object_class: str) -> frozenset[str]:
        """Return the ids of what is remembered of a class."""
        return frozenset(one.object_id for one in self.lookup.all_seen_since(object_class, 0))

    def is_at(self, target: Target, center: FloatArray, known: frozenset[str], run: SkillRun) -> FloatArray | None:
        """Return where a thing that was to stand at a place (3,) lies instead; None: it is there, or is not seen.

        known: ids of things of its class from before it was put down, none of which it can be.
        """
        elsewhere: list[Target] = []

        def told(seen: list[Target]) -> bool | None:
            away = [float(np.linalg.norm(one.box.center - center)) for one in seen]
            elsewhere[:] = [one for one, gap in zip(seen, away) if gap <= _FELL_WITHIN_M]
            return True if away and min(away) <= _THERE_M else None

        if self._until(target.object_class, told, run):
            return None
        fallen = [one for one in elsewhere if one.object_id not in known - {target.object_id}]
        return fallen[0].box.center if fallen else None

    def _until(self, object_class: str, told: Callable[[list[Target]], bool | None], run: SkillRun) -> bool | None:
        """Return the first result of the newest sightings; None when time is up."""
        since_ns = self.now_ns()
        for _ in range(int(np.ceil(self.look_s / _POLL_S))):
            run.check()
            run.report("looking", 1.0)
            self.pause(_POLL_S)
            answer = told(self.lookup.all_seen_since(object_class, since_ns))
            if answer is not None:
                return answer
        return None


def _find(seen: Iterable[Target], target: Target) -> Target | None:
    return next((one for one in seen if one.object_id == target.object_id), None)

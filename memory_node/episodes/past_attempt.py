"""One attempt that has ended: what it was and what came of it."""

from __future__ import annotations

import dataclasses
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.skill_library import SKILLS
from memory_node.domain.step import EpisodeSummary, StepRecord
from memory_node.episodes.class_actions import class_action, class_arguments
from memory_node.world.failures import broken_rules

ATTEMPTS = "experience_record"


@dataclass(frozen=True)
class PastAttempt:
    """done: its actions that succeeded, over classes, as "Skill(Class, ...)". room: where most of its steps were.
    failure_causes: what failed and why, in words."""

    episode_id: str
    task: str
    task_type: str
    success: bool
    stamp_ns: int
    room: str = ""
    objects: tuple[str, ...] = ()
    failure_causes: tuple[str, ...] = ()
    done: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for the store."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> PastAttempt:
        """Return the attempt of stored values; what a reader of earlier releases made of it is left out.

        Raises:
            InvalidValueError: values are missing.
        """
        known = {field.name for field in dataclasses.fields(cls)}
        # A million stored steps repeat a few thousand actions; each is kept once.
        listed: dict[str, Any] = {
            name: tuple(map(sys.intern, value)) if isinstance(value, list | tuple) else value
            for name, value in {"done": values.get("successful_actions", ()), **values}.items()
            if name in known
        }
        try:
            return cls(**listed)
        except TypeError as error:
            raise InvalidValueError(f"PastAttempt: {error}") from None


def attempt_of_episode(episode: EpisodeSummary, steps: Sequence[StepRecord]) -> PastAttempt:
    """Return an ended episode as an attempt."""
    objects = dict.fromkeys(name for step in steps for name in class_arguments(step))
    causes = [_cause(step) for step in steps if not step.success]
    if not episode.success:
        causes.append(episode.message)
    rooms = Counter(step.room for step in steps if step.room)
    return PastAttempt(
        episode_id=episode.id,
        task=episode.instruction,
        task_type=episode.task_type,
        success=bool(episode.success),
        stamp_ns=episode.ended_ns,
        room=max(rooms, key=rooms.__getitem__, default=""),
        objects=tuple(objects),
        failure_causes=tuple(dict.fromkeys(cause for cause in causes if cause)),
        done=tuple(class_action(step) for step in steps if step.success),
    )


def _cause(step: StepRecord) -> str:
    missing = ", ".join(str(rule.fact) for rule in broken_rules(SKILLS.get(step.action.skill), step.reason))
    return f"{class_action(step)}: {step.reason}" + (f", for want of {missing}" if missing else "")

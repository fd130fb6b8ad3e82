"""The semantic record of one attempt: what it was, what worked, what failed and why (BrainMem)."""

from __future__ import annotations

import dataclasses
import sys
from dataclasses import dataclass
from typing import Any

from memory_node.domain.errors import InvalidValueError


@dataclass(frozen=True)
class ExperienceRecord:
    """What one episode taught. Sequences hold actions lifted to object classes, as "Skill(Class, ...)".

    by: who read the episode, "rules" or "language model", and why not the one that was asked for.
    """

    episode_id: str
    task: str
    task_type: str
    success: bool
    stamp_ns: int
    room: str = ""
    objects: tuple[str, ...] = ()
    success_patterns: tuple[str, ...] = ()
    failure_causes: tuple[str, ...] = ()
    insights: tuple[str, ...] = ()
    successful_actions: tuple[str, ...] = ()
    failed_actions: tuple[str, ...] = ()
    recommendations: tuple[str, ...] = ()
    by: str = "rules"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for the store."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> ExperienceRecord:
        """Return the record of stored values.

        Raises:
            InvalidValueError: keys are missing or unknown.
        """
        # A million stored steps repeat a few thousand actions; each is kept once.
        listed: dict[str, Any] = {
            k: tuple(map(sys.intern, v)) if isinstance(v, list | tuple) else v for k, v in values.items()
        }
        try:
            return cls(**listed)
        except TypeError as error:
            raise InvalidValueError(f"ExperienceRecord: {error}") from None

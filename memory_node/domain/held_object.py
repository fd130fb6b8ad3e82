"""What the robot's hand holds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class HeldObject:
    """A thing in the hand; object_id: memory's."""

    object_id: str
    object_class: str

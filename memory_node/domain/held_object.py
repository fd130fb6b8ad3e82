"""What the robot's hand holds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from memory_node.domain.skill import StateChange


@dataclass(frozen=True)
class HeldObject:
    """A thing in the hand; object_id: memory's."""

    object_id: str
    object_class: str


def held_after(held: HeldObject | None, changes: Iterable[StateChange]) -> HeldObject | None:
    """Return what the hand holds after changes, for a memory that tracks nothing else."""
    for change in changes:
        if change.held is True:
            held = HeldObject(change.object_id, change.object_class)
        elif held is not None and change.object_id == held.object_id and (change.held is False or change.destroyed):
            held = None
    return held

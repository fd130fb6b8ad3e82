"""How a memory unit changes: by a newer sighting of the same object, and by what a skill has done to it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from memory_node.domain.memory_unit import MemoryUnit
from memory_node.domain.skill import StateChange
from memory_node.domain.states import with_state

# Uncertainty of the place where a skill says that it put something.
_SKILL_STD_M = 0.05
BY_THE_ROBOT = "skill"  # source of what the robot itself did


def merged(held: MemoryUnit, new: MemoryUnit) -> MemoryUnit:
    """Return one unit for two records of the same object: the later stamp wins, what it leaves open stays as it was."""
    older, newer = (held, new) if new.stamp_ns >= held.stamp_ns else (new, held)
    missed_ns = max(newer.last_missed_ns, older.last_missed_ns)
    states = older.states
    for belief in newer.states:
        states = with_state(states, belief)
    return replace(
        newer,
        states=states,
        image_path=newer.image_path or older.image_path,
        embedding=newer.embedding if newer.embedding is not None else older.embedding,
        looks=newer.looks if newer.looks is not None else older.looks,
        area_id=newer.area_id or older.area_id,
        support_id=newer.support_id or older.support_id,
        support_class=newer.support_class if newer.support_id else older.support_class,
        inside=newer.inside if newer.support_id else older.inside,
        room_name=newer.room_name or older.room_name,
        size=newer.size if newer.size.any() else older.size,
        last_missed_ns=missed_ns if missed_ns > newer.stamp_ns else 0,
        used_ns=max(newer.used_ns, older.used_ns),
    )


def after_change(held: MemoryUnit | None, change: StateChange, origin: MemoryUnit | None) -> MemoryUnit | None:
    """Return the unit after a skill's effect, or None when the change does not say where an unknown object is.

    held: the object's unit so far; origin: the unit of the whole that it was cut from, when known.
    """
    base = held or _born(change, origin)
    if base is None:
        return None
    stamp_ns = max(base.stamp_ns, change.stamp_ns)
    moved = change.position is not None
    leaves_support = change.held is True or moved or bool(change.support_id)
    return replace(
        base,
        states=change.states_after(base.states),
        stamp_ns=stamp_ns,
        last_missed_ns=base.last_missed_ns if base.last_missed_ns > stamp_ns else 0,
        source=change.source,
        used_ns=change.stamp_ns if change.source == BY_THE_ROBOT else base.used_ns,
        position=np.array(change.position) if change.position is not None else base.position,
        covariance=np.eye(3) * _SKILL_STD_M**2 if moved else base.covariance,
        support_id=change.support_id if leaves_support else base.support_id,
        support_class="" if leaves_support else base.support_class,
        inside=change.inside if leaves_support else base.inside,
        area_id="" if change.held is True else base.area_id,
        existence=max(base.existence, change.probability),
    )


def _born(change: StateChange, origin: MemoryUnit | None) -> MemoryUnit | None:
    if origin is not None:
        return replace(
            origin,
            object_id=change.object_id,
            object_class=change.object_class or origin.object_class,
            embedding=None,
            looks=None,
            image_path="",
            used_ns=0,
        )
    if change.position is None:
        return None
    return MemoryUnit(
        object_id=change.object_id,
        object_class=change.object_class,
        position=np.array(change.position),
        covariance=np.eye(3) * _SKILL_STD_M**2,
        stamp_ns=change.stamp_ns,
    )

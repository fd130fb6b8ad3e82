"""How a sighting, a skill or a claim about its states changes a memory unit."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from memory_node.domain.memory_unit import MemoryUnit
from memory_node.domain.skill import StateChange
from memory_node.domain.states import ObjectState, StateBelief, with_state

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


@dataclass(frozen=True)
class StateClaim:
    """One source's word on one state: probability in [0, 1] that it holds, as of `stamp_ns` (when the picture was)."""

    state: ObjectState
    probability: float
    stamp_ns: int
    source: str = "vlm"


def weigh_claims(
    states: tuple[StateBelief, ...], claims: Iterable[StateClaim], now_ns: int, half_life_s: float
) -> tuple[tuple[StateBelief, ...], int]:
    """Return an object's states after the claims, and how many of these contradicted what was believed.

    A word weighs its confidence, halved for every `half_life_s` of age; the heavier one is kept, the belief on a tie.
    """
    conflicts = 0
    for claim in claims:
        opposed = _opposed(states, claim)
        if opposed is not None:
            conflicts += 1
            confidence = max(claim.probability, 1.0 - claim.probability)
            believed = opposed.probability * _freshness(opposed.confirmed_ns, now_ns, half_life_s)
            if confidence * _freshness(claim.stamp_ns, now_ns, half_life_s) <= believed:
                continue
        states = _believing(states, claim)
    return states, conflicts


def _opposed(states: tuple[StateBelief, ...], claim: StateClaim) -> StateBelief | None:
    """Return the firm belief that the claim denies: the same state when it says no, an excluding one when yes."""
    denied = claim.state.opposites if claim.probability >= 0.5 else {claim.state}
    return next((belief for belief in states if belief.state in denied and belief.probability >= 0.5), None)


def _believing(states: tuple[StateBelief, ...], claim: StateClaim) -> tuple[StateBelief, ...]:
    if claim.probability < 0.5:
        return tuple(belief for belief in states if belief.state is not claim.state)
    known = next((belief for belief in states if belief.state is claim.state), None)
    if known is not None and known.confirmed_ns > claim.stamp_ns:
        return states
    return with_state(states, StateBelief(claim.state, claim.probability, claim.stamp_ns, claim.source))


def _freshness(stamp_ns: int, now_ns: int, half_life_s: float) -> float:
    age_s = max(0.0, (now_ns - stamp_ns) * 1e-9)
    return float(0.5 ** (age_s / half_life_s))

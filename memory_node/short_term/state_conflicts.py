"""Settles what two sources say about an object's state, by age and confidence, and records the disagreement."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from memory_node.domain.states import ObjectState, StateBelief, with_state


@dataclass(frozen=True)
class StateClaim:
    """One source's word on one state: probability in [0, 1] that it holds, as of `stamp_ns` (when the picture was)."""

    state: ObjectState
    probability: float
    stamp_ns: int
    source: str = "vlm"


@dataclass(frozen=True)
class StateConflict:
    """A claim that contradicted a belief: which of the two was kept, and how much each weighed."""

    object_id: str
    believed: StateBelief
    claimed: StateClaim
    claim_won: bool
    belief_weight: float
    claim_weight: float


def weigh_claims(
    object_id: str, states: tuple[StateBelief, ...], claims: Iterable[StateClaim], now_ns: int, half_life_s: float
) -> tuple[tuple[StateBelief, ...], tuple[StateConflict, ...]]:
    """Return an object's states after the claims, and the conflicts with what was believed.

    A word weighs its confidence, halved for every `half_life_s` of age; the heavier one is kept, the belief on a tie.
    """
    conflicts = []
    for claim in claims:
        opposed = _opposed(states, claim)
        if opposed is not None:
            belief_weight = opposed.probability * _freshness(opposed.confirmed_ns, now_ns, half_life_s)
            confidence = max(claim.probability, 1.0 - claim.probability)
            claim_weight = confidence * _freshness(claim.stamp_ns, now_ns, half_life_s)
            won = claim_weight > belief_weight
            conflicts.append(StateConflict(object_id, opposed, claim, won, belief_weight, claim_weight))
            if not won:
                continue
        states = _believing(states, claim)
    return states, tuple(conflicts)


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

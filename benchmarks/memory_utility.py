"""What a memory is worth for its tokens (PlugMem's measures): information gained, its density, and its kinds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

# Of the mean score without memory: what keeps the logarithm finite where a score is 0.
_EPSILON_SHARE = 0.01


class Quadrant(Enum):
    """What a memory did to an answer: whether it became better, and whether it became more certain."""

    EFFICIENT = "efficient"  # better and more certain
    CORRECTIVE = "corrective"  # better, though less certain: it was wrongly certain before
    TRAP = "trap"  # worse, and more certain of it
    NOISE = "noise"  # worse and less certain


@dataclass(frozen=True)
class Answered:
    """One question, answered without and with a memory.

    base, with_memory: P, the score or the probability of the right answer, 0 to 1. base_entropy, entropy: of the
    distribution over the candidates (bits). tokens: the memory's length; 0: it was empty.
    """

    base: float
    with_memory: float
    base_entropy: float
    entropy: float
    tokens: int


def entropy_of(probabilities: NDArray[np.float64]) -> float:
    """Return the entropy in bits of a distribution (n,)."""
    held = probabilities[probabilities > 0.0]
    return float(-(held * np.log2(held)).sum())


def epsilon_of(cases: Sequence[Answered]) -> float:
    """Return what is added to each P: 1 % of the mean without memory.

    Without a single right answer that would be 0; then it is 1 % of a certain one.
    """
    mean = float(np.mean([case.base for case in cases])) if cases else 0.0
    return _EPSILON_SHARE * (mean or 1.0)


def pmi_of(case: Answered, epsilon: float) -> float:
    """Return how many bits a memory brought towards the right answer: log2((P_mem + eps) / (P_base + eps))."""
    return math.log2((case.with_memory + epsilon) / (case.base + epsilon))


def density_of(cases: Sequence[Answered], epsilon: float, base_below: float) -> float | None:
    """Return the bits that a token of memory brought, over the cases that were not answered anyway.

    base_below: only cases whose P without memory is lower (tau_conf). Empty memories count apart. None: no such case.
    """
    counted = [case for case in cases if case.base < base_below and case.tokens]
    if not counted:
        return None
    return sum(pmi_of(case, epsilon) for case in counted) / sum(case.tokens for case in counted)


def entropy_fall_of(case: Answered) -> float:
    """Return dH, by how many bits the answer became more certain."""
    return case.base_entropy - case.entropy


def directed_density_of(case: Answered, epsilon: float) -> float:
    """Return rho_phi = sgn(PMI) |dH| / tokens: how much certainty a token moved, and whether to the better."""
    pmi = pmi_of(case, epsilon)
    sign = (pmi > 0.0) - (pmi < 0.0)
    return sign * abs(entropy_fall_of(case)) / max(1, case.tokens)


def quadrant_of(case: Answered, epsilon: float) -> Quadrant | None:
    """Return what the memory did; None where it changed the score or the certainty not at all."""
    pmi, fall = pmi_of(case, epsilon), entropy_fall_of(case)
    if pmi == 0.0 or fall == 0.0:
        return None
    if pmi > 0.0:
        return Quadrant.EFFICIENT if fall > 0.0 else Quadrant.CORRECTIVE
    return Quadrant.TRAP if fall > 0.0 else Quadrant.NOISE


@dataclass(frozen=True)
class CostPoint:
    """A point of the utility-cost curve. budget: tokens that were allowed; tokens: used, in the mean; score: mean P."""

    budget: int
    tokens: float
    score: float


def best_points(curve: Sequence[CostPoint], base: float) -> Mapping[str, CostPoint]:
    """Return the points of best performance and of best efficiency, the gain over `base` for each token.

    Of equal points the cheaper one.

    Raises:
        ValueError: the curve is empty.
    """
    by_cost = sorted(curve, key=lambda point: (point.tokens, point.budget))
    return {
        "performance": max(by_cost, key=lambda point: point.score),
        "efficiency": max(by_cost, key=lambda point: (point.score - base) / max(point.tokens, 1.0)),
    }

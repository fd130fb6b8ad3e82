"""A row of `bench knowledge --utility`: what a memory of so many tokens did to the answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.memory_utility import (
    Answered,
    Quadrant,
    density_of,
    directed_density_of,
    entropy_fall_of,
    epsilon_of,
    pmi_of,
    quadrant_of,
)

# A question that was answered without memory says nothing about it (tau_conf).
_TAU, _HIGHER_TAU = 0.8, 0.9


@dataclass(frozen=True)
class UtilityRow:
    """None: no question had a memory, or none was under the threshold.

    p: score, the F1 of the most probable answer (of an action, whether it is the right one), or likelihood, the
    probability of the right one. density_*: bits a token brought, over the questions with P without memory under 0.8
    and 0.9. fall_bits: dH. efficient, corrective, trap, noise: shares of the questions with a memory. best: whether
    this budget is the best of its memory by "performance", by "efficiency", or both.
    """

    dataset: str
    reader: str
    memory: str
    budget: int
    p: str
    questions: int
    empty: int
    tokens: float | None
    p_base: float | None
    p_memory: float | None
    pmi: float | None
    density_80: float | None
    density_90: float | None
    fall_bits: float | None
    directed_density: float | None
    efficient: float
    corrective: float
    trap: float
    noise: float
    best: str


def utility_row(
    dataset: str, reader: str, memory: str, budget: int, p: str, cases: Sequence[Answered], best: str
) -> UtilityRow:
    """Return the row of a memory with one budget."""
    epsilon = epsilon_of(cases)
    held = [case for case in cases if case.tokens]
    quadrants = Counter(quadrant_of(case, epsilon) for case in held)
    efficient, corrective, trap, noise = (quadrants[one] / max(1, len(held)) for one in Quadrant)
    return UtilityRow(
        dataset,
        reader,
        memory,
        budget,
        p,
        questions=len(cases),
        empty=len(cases) - len(held),
        tokens=_mean([case.tokens for case in held]),
        p_base=_mean([case.base for case in cases]),
        p_memory=_mean([case.with_memory for case in cases]),
        pmi=_mean([pmi_of(case, epsilon) for case in held]),
        density_80=density_of(cases, epsilon, _TAU),
        density_90=density_of(cases, epsilon, _HIGHER_TAU),
        fall_bits=_mean([entropy_fall_of(case) for case in held]),
        directed_density=_mean([directed_density_of(case, epsilon) for case in held]),
        efficient=efficient,
        corrective=corrective,
        trap=trap,
        noise=noise,
        best=best,
    )


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None

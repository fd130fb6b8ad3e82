"""What a memory is worth for its tokens: the information it brings, and how dense that is (PlugMem's measures)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

# Of the mean score without memory: what keeps the logarithm finite where a score is 0.
_EPSILON_SHARE = 0.01
# A question that was answered without memory says nothing about it (tau_conf).
_TAU = 0.8


@dataclass(frozen=True)
class Answered:
    """One question, answered without and with a memory.

    base, with_memory: P, the score or the probability of the right answer, 0 to 1. tokens: the memory's length; 0: it
    was empty.
    """

    base: float
    with_memory: float
    tokens: int


@dataclass(frozen=True)
class UtilityRow:
    """A row of `bench knowledge --utility`. None: no question had a memory, or none was under the threshold.

    p: score, the F1 of the most probable answer, or likelihood, the probability of the right one. density: bits a token
    brought, over the questions with P without memory under 0.8.
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
    density: float | None


def utility_row(dataset: str, reader: str, memory: str, budget: int, p: str, cases: Sequence[Answered]) -> UtilityRow:
    """Return the row of a memory with one budget."""
    epsilon = epsilon_of(cases)
    held = [case for case in cases if case.tokens]
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
        density=density_of(cases, epsilon),
    )


def epsilon_of(cases: Sequence[Answered]) -> float:
    """Return what is added to each P: 1 % of the mean without memory.

    Without a single right answer that would be 0; then it is 1 % of a certain one.
    """
    mean = float(np.mean([case.base for case in cases])) if cases else 0.0
    return _EPSILON_SHARE * (mean or 1.0)


def pmi_of(case: Answered, epsilon: float) -> float:
    """Return how many bits a memory brought towards the right answer: log2((P_mem + eps) / (P_base + eps))."""
    return math.log2((case.with_memory + epsilon) / (case.base + epsilon))


def density_of(cases: Sequence[Answered], epsilon: float) -> float | None:
    """Return the bits that a token of memory brought, over the cases that were not answered anyway.

    Empty memories count apart. None: no such case.
    """
    counted = [case for case in cases if case.base < _TAU and case.tokens]
    if not counted:
        return None
    return sum(pmi_of(case, epsilon) for case in counted) / sum(case.tokens for case in counted)


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None

"""Means, medians and shares for rows: rounded, None where there is nothing to take them of."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from scipy.stats import binomtest


def mean_of(values: Sequence[float], digits: int = 4) -> float | None:
    """Return the rounded mean, None of no values."""
    return round(statistics.fmean(values), digits) if values else None


def median_of(values: Sequence[float], digits: int = 4) -> float | None:
    """Return the rounded median, None of no values."""
    return round(statistics.median(values), digits) if values else None


def share_of(part: float, whole: float, digits: int = 4) -> float | None:
    """Return part / whole, rounded; None where the whole is nothing."""
    return round(part / whole, digits) if whole else None


def interval_of(done: int, tries: int) -> tuple[float, float]:
    """Return the 95 % interval of a share by Wilson's score; of no tries (0, 1)."""
    if not tries:
        return 0.0, 1.0
    found = binomtest(done, tries).proportion_ci(method="wilson")
    return float(found.low), float(found.high)

"""Means of figures, and the orders that they are taken over."""

from __future__ import annotations

import random
import statistics
from collections.abc import Sequence
from typing import TypeVar

from scipy.stats import binomtest

Task = TypeVar("Task")


def shuffled(tasks: Sequence[Task], seed: int, order: int) -> list[Task]:
    """Return the tasks in the order of this number; every row of a benchmark has the same orders."""
    listed = list(tasks)
    random.Random(f"{seed} {order}").shuffle(listed)
    return listed


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

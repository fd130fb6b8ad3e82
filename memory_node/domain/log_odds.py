"""Probabilities as log-odds, in which independent evidence adds up."""

from __future__ import annotations

import math


def log_odds(probability: float) -> float:
    """Return the log-odds of a probability between 0 and 1, both excluded."""
    return math.log(probability / (1.0 - probability))

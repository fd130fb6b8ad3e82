"""Quantiles of columns at a fraction of numpy.quantile's cost for small arrays: by rank, without interpolation."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

_Float = TypeVar("_Float", np.float32, np.float64)
# Values of a column that are sampled for its quantiles.
_ENOUGH = 1500


def value_at(values: NDArray[_Float], share: float) -> NDArray[_Float]:
    """Return of each column of values (n, ...) the one that `share` of the others lie below; n >= 1."""
    some = values[:: max(1, len(values) // _ENOUGH)]
    rank = round(share * (len(some) - 1))
    return np.partition(some, rank, axis=0)[rank]

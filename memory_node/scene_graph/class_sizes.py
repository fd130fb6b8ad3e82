"""How large things of a class are in this home, learnt from what was seen often: it raises doubts about labels."""

from __future__ import annotations

import numpy as np

from memory_node.domain.geometry import FloatArray

# So many things of a class tell its sizes; their spread is never taken for less than this (log of the ratio).
_ENOUGH = 5
_LEAST_SPREAD = 0.12
_LEAST_FIT = 0.15
_FAR = 2.0
# A side that is smaller by so many spreads is that of a part.
_PART = 3.0


class ClassSizes:
    """Mean and spread of the logarithms of the sorted sides of each class's things (Welford's sums)."""

    def __init__(self) -> None:
        self._count: dict[str, int] = {}
        self._mean: dict[str, FloatArray] = {}
        self._squares: dict[str, FloatArray] = {}

    def learn(self, name: str, size: FloatArray) -> None:
        """Take in a thing of a class; size (3,) in metres."""
        sides = _sides(size)
        count = self._count.get(name, 0) + 1
        mean = self._mean.get(name, np.zeros(3))
        step = sides - mean
        if count > _ENOUGH:
            # Among many there are always some with a wrong name or half a box.
            most = _FAR * self._spread(name)
            step = np.clip(step, -most, most)
        self._count[name], self._mean[name] = count, mean + step / count
        self._squares[name] = self._squares.get(name, np.zeros(3)) + step * (step - step / count)

    def fit(self, name: str, size: FloatArray, whole: bool) -> float:
        """Return how well a size (3,) suits a class, in [0.15, 1]; 1 while too little is known.

        whole: False for a thing of which a part was seen, which can only be too large.
        """
        if self._count.get(name, 0) < _ENOUGH:
            return 1.0
        away = (_sides(size) - self._mean[name]) / self._spread(name)
        away = np.abs(away) if whole else np.maximum(away, 0.0)
        excess = np.maximum(away - _FAR, 0.0)
        return float(max(_LEAST_FIT, np.exp(-0.5 * float(excess @ excess))))

    def is_part(self, name: str, size: FloatArray) -> bool:
        """Return whether a size (3,) is so much smaller than that of things of a class that a part of one was seen."""
        if self._count.get(name, 0) < _ENOUGH:
            return False
        away = (_sides(size) - self._mean[name]) / self._spread(name)
        return bool(away.min() < -_PART)

    def _spread(self, name: str) -> FloatArray:
        return np.maximum(np.sqrt(self._squares[name] / self._count[name]), _LEAST_SPREAD)

    def may_be(self, name: str, size: FloatArray, whole: bool = True) -> bool:
        """Return whether a thing of a size (3,), or of which a part of that size was seen, may be of a class."""
        return self.fit(name, size, whole) > _LEAST_FIT


def _sides(size: FloatArray) -> FloatArray:
    return np.log(np.sort(np.maximum(size, 1e-3)))

"""The usual size of each class in this home, learnt from objects that were seen often. An unusual size makes a label
doubtful."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from memory_node.domain.geometry import FloatArray

# Objects needed before a class's size is known, and the least spread that is assumed (log of the ratio).
_ENOUGH = 5
_LEAST_SPREAD = 0.12
_LEAST_FIT = 0.15
_FAR = 2.0
# A side shorter by this many spreads belongs to a part of a thing.
_PART = 3.0


@dataclass
class _Sizes:
    """Statistics of the logarithms of one class's sorted sides: number of things, mean, Welford's sum, spread."""

    count: int = 0
    mean: list[float] = field(default_factory=lambda: [0.0, 0.0, 0.0])
    squares: list[float] = field(default_factory=lambda: [0.0, 0.0, 0.0])
    spread: list[float] = field(default_factory=lambda: [_LEAST_SPREAD] * 3)

    def learn(self, sides: list[float]) -> None:
        self.count += 1
        for axis, side in enumerate(sides):
            step = side - self.mean[axis]
            if self.count > _ENOUGH:
                # Among many there are always some with a wrong name or half a box.
                most = _FAR * self.spread[axis]
                step = min(most, max(-most, step))
            self.mean[axis] += step / self.count
            self.squares[axis] += step * (step - step / self.count)
            self.spread[axis] = max(_LEAST_SPREAD, math.sqrt(self.squares[axis] / self.count))

    def away(self, sides: list[float]) -> list[float]:
        """Return by how many spreads each side is longer than usual."""
        return [(side - mean) / spread for side, mean, spread in zip(sides, self.mean, self.spread)]


class ClassSizes:
    """The usual sizes of each class. Plain numbers are faster here than arrays, because each call is about one
    thing."""

    def __init__(self) -> None:
        self._of: dict[str, _Sizes] = {}

    def learn(self, name: str, size: FloatArray) -> None:
        """Take in a thing of a class; size (3,) in metres."""
        self._of.setdefault(name, _Sizes()).learn(_sides(size))

    def fit(self, name: str, size: FloatArray, whole: bool) -> float:
        """Return how well a size (3,) suits a class, in [0.15, 1]; 1 while too little is known.

        whole: False for a thing of which a part was seen, which can only be too large.
        """
        known = self._known(name)
        if known is None:
            return 1.0
        away = known.away(_sides(size))
        excess = [max(0.0, (abs(a) if whole else a) - _FAR) for a in away]
        return max(_LEAST_FIT, math.exp(-0.5 * sum(e * e for e in excess)))

    def may_be(self, name: str, size: FloatArray, whole: bool = True) -> bool:
        """Return whether a thing of a size (3,), or of which a part of that size was seen, may be of a class."""
        return self.fit(name, size, whole) > _LEAST_FIT

    def is_part(self, name: str, size: FloatArray) -> bool:
        """Return whether a size (3,) is so far below the class's usual size that only a part of a thing was seen."""
        known = self._known(name)
        return known is not None and min(known.away(_sides(size))) < -_PART

    def _known(self, name: str) -> _Sizes | None:
        known = self._of.get(name)
        return known if known is not None and known.count >= _ENOUGH else None


def _sides(size: FloatArray) -> list[float]:
    return [math.log(max(side, 1e-3)) for side in sorted(size.tolist())]

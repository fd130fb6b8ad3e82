"""W-TinyLFU: a recency window in front of a segmented main part that only frequent keys may enter."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from memory_node.domain.errors import InvalidValueError
from memory_node.short_term.replacement import Key, OnEvict, checked_capacity, ignore_eviction
from memory_node.short_term.sketch import FrequencySketch


@dataclass(frozen=True)
class SegmentSizes:
    """How a capacity is divided: window, and main with its protected part; all in keys."""

    window: int
    main: int
    protected: int

    def __post_init__(self) -> None:
        if self.window < 1 or self.main < 0 or not 0 <= self.protected <= self.main:
            raise InvalidValueError(f"SegmentSizes: expected window >= 1 and 0 <= protected <= main, got {self}")

    @classmethod
    def of_share(cls, capacity: int, window_share: float, protected_share: float = 0.8) -> SegmentSizes:
        """Return the sizes for a window of a share of the capacity; protected is a share of main.

        Raises:
            InvalidValueError: a share is not in [0, 1].
        """
        for name, share in (("window_share", window_share), ("protected_share", protected_share)):
            if not 0.0 <= share <= 1.0:
                raise InvalidValueError(f"{name}: expected 0 to 1, got {share}")
        window = min(checked_capacity(capacity), max(1, round(window_share * capacity)))
        main = capacity - window
        return cls(window, main, min(int(protected_share * main), max(0, main - 1)))


class WTinyLfuPolicy:
    """Einziger, Friedman and Manes 2017, with the segments as parameters.

    A new key enters the window; what the window (LRU) drops enters main's probation part if main has room or if the
    sketch has counted it more often than probation's oldest key. A hit in probation promotes to protected, whose
    oldest key is demoted to probation in turn.

    sizes: default a window of 1 % (Caffeine's; KARMA's households do best with SegmentSizes(9, 1, 0)).

    Raises:
        InvalidValueError: the segments do not add up to the capacity.
    """

    def __init__(
        self,
        capacity: int,
        sizes: SegmentSizes | None = None,
        on_evict: OnEvict = ignore_eviction,
        doorkeeper: bool = False,
    ) -> None:
        self._capacity = checked_capacity(capacity)
        self._sizes = sizes or SegmentSizes.of_share(capacity, 0.01)
        if self._sizes.window + self._sizes.main != capacity:
            raise InvalidValueError(f"W-TinyLFU: window and main of {self._sizes} do not add up to {capacity}")
        self._window: OrderedDict[Key, None] = OrderedDict()
        self._probation: OrderedDict[Key, None] = OrderedDict()
        self._protected: OrderedDict[Key, None] = OrderedDict()
        self.on_evict = on_evict
        self.sketch = FrequencySketch(capacity, doorkeeper=doorkeeper)

    @property
    def capacity(self) -> int:
        """The most keys that are kept."""
        return self._capacity

    def __len__(self) -> int:
        return len(self._window) + len(self._probation) + len(self._protected)

    def __contains__(self, key: object) -> bool:
        return key in self._window or key in self._protected or key in self._probation

    def __iter__(self) -> Iterator[Key]:
        return chain(self._probation, self._protected, self._window)

    def access(self, key: Key) -> bool:
        """Use the key, inserting it when absent; return whether it was held."""
        self._count(key)
        window = self._window
        if key in window:
            window.move_to_end(key)
            return True
        if key in self._protected:
            self._protected.move_to_end(key)
            return True
        if key in self._probation:
            self._promote(key)
            return True
        window[key] = None
        if len(window) > self._sizes.window:
            self._admit(window.popitem(last=False)[0])
        return False

    def remove(self, key: Key) -> bool:
        """Take the key out; return whether it was held."""
        return any(segment.pop(key, self) is None for segment in (self._window, self._probation, self._protected))

    def leaving(self) -> Iterator[Key]:
        """Yield what a new key would push out first, then probation, protected and window, the oldest of each first."""
        first = self._next_out()
        if first is not None:
            yield first
        yield from (key for key in self if key != first)

    def segment(self, key: Key) -> str:
        """Return recent window, probation or protected."""
        parts = (("recent window", self._window), ("probation", self._probation), ("protected", self._protected))
        return next((name for name, keys in parts if key in keys), "")

    def _next_out(self) -> Key | None:
        """Return the key that a new one would evict from a full policy; None where the new key itself would go."""
        if len(self._window) < self._sizes.window:
            return next(iter(self), None)
        candidate = next(iter(self._window), None)
        victim = next(iter(self._probation), None)
        if candidate is None or victim is None:
            return candidate
        return victim if self._wins(candidate, victim) else candidate

    def evict(self) -> Key:
        """Evict the oldest key of probation, else of protected, else of the window; return it."""
        segment = self._probation or self._protected or self._window
        key = segment.popitem(last=False)[0]
        self.on_evict(key)
        return key

    def _count(self, key: Key) -> None:
        self.sketch.add(key)

    def _wins(self, candidate: Key, victim: Key) -> bool:
        return self.sketch.estimate(candidate) > self.sketch.estimate(victim)

    def _promote(self, key: Key) -> None:
        del self._probation[key]
        if self._sizes.protected == 0:
            self._probation[key] = None
            return
        self._protected[key] = None
        if len(self._protected) > self._sizes.protected:
            self._probation[self._protected.popitem(last=False)[0]] = None

    def _admit(self, candidate: Key) -> None:
        probation = self._probation
        if len(probation) + len(self._protected) < self._sizes.main:
            probation[candidate] = None
            return
        if probation and self._wins(candidate, next(iter(probation))):
            self.on_evict(probation.popitem(last=False)[0])
            probation[candidate] = None
        else:
            self.on_evict(candidate)

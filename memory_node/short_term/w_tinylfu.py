"""W-TinyLFU: a recency window in front of a segmented main part that only frequent keys may enter."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from memory_node.domain.errors import InvalidValueError
from memory_node.short_term.aged_counts import AgedCounts
from memory_node.short_term.replacement import Key, OnEvict, checked_capacity, ignore_eviction
from memory_node.short_term.sketch import FrequencySketch

# How many keys one access moves between segments after a resize: enough to end within a third of a capacity.
_MOVES_AN_ACCESS = 3


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
    sketch: may be shared between policies that see the same keys; then one counts with add() and all call use().
    margin: how many counts more than one above the victim a candidate needs; 1 keeps part of a loop that does not fit.
    """

    def __init__(
        self,
        capacity: int,
        sizes: SegmentSizes | None = None,
        on_evict: OnEvict = ignore_eviction,
        doorkeeper: bool = False,
        sketch: FrequencySketch | AgedCounts | None = None,
        margin: int = 0,
    ) -> None:
        self._capacity = checked_capacity(capacity)
        self._sizes = SegmentSizes.of_share(capacity, 0.01)
        self._margin = margin
        self._unsettled = False
        self._window: OrderedDict[Key, None] = OrderedDict()
        self._probation: OrderedDict[Key, None] = OrderedDict()
        self._protected: OrderedDict[Key, None] = OrderedDict()
        self.on_evict = on_evict
        self.sketch: FrequencySketch | AgedCounts = (
            sketch if sketch is not None else FrequencySketch(capacity, doorkeeper=doorkeeper)
        )
        self.resize(sizes or self._sizes, margin)

    @property
    def capacity(self) -> int:
        """The most keys that are kept."""
        return self._capacity

    @property
    def sizes(self) -> SegmentSizes:
        """How the capacity is divided; after a resize the segments get there within a third of a capacity's uses."""
        return self._sizes

    def __len__(self) -> int:
        return len(self._window) + len(self._probation) + len(self._protected)

    def __contains__(self, key: object) -> bool:
        return key in self._window or key in self._protected or key in self._probation

    def __iter__(self) -> Iterator[Key]:
        return chain(self._probation, self._protected, self._window)

    def access(self, key: Key) -> bool:
        """Use the key, inserting it when absent; return whether it was held."""
        self.sketch.add(key)
        return self.use(key)

    def use(self, key: Key) -> bool:
        """Do what access() does, for a key that somebody else counts in the shared sketch."""
        if self._unsettled:
            self._settle()
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
        elif self._unsettled and len(self) > self._capacity:
            self.evict()
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
        estimate = self.sketch.estimate
        if candidate is None or victim is None:
            return candidate
        return victim if estimate(candidate) > estimate(victim) + self._margin else candidate

    def evict(self) -> Key:
        """Evict the oldest key of probation, else of protected, else of the window; return it."""
        segment = self._probation or self._protected or self._window
        key = segment.popitem(last=False)[0]
        self.on_evict(key)
        return key

    def resize(self, sizes: SegmentSizes, margin: int = 0) -> None:
        """Divide the capacity anew; the keys move over little by little.

        Raises:
            InvalidValueError: the segments do not add up to the capacity.
        """
        if sizes.window + sizes.main != self._capacity:
            raise InvalidValueError(f"W-TinyLFU: window and main of {sizes} do not add up to {self._capacity}")
        self._sizes = sizes
        self._margin = margin
        self._unsettled = True

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
        if len(probation) + len(self._protected) < self._sizes.main and len(self) < self._capacity:
            probation[candidate] = None
            return
        estimate = self.sketch.estimate
        if probation and estimate(candidate) > estimate(next(iter(probation))) + self._margin:
            self.on_evict(probation.popitem(last=False)[0])
            probation[candidate] = None
        else:
            self.on_evict(candidate)

    def _settle(self) -> None:
        """Move some keys towards the segments' new sizes."""
        sizes, window, probation, protected = self._sizes, self._window, self._probation, self._protected
        for _ in range(_MOVES_AN_ACCESS):
            if len(protected) > sizes.protected:
                probation[protected.popitem(last=False)[0]] = None
            elif len(window) > sizes.window:
                probation[window.popitem(last=False)[0]] = None
            elif len(probation) + len(protected) <= sizes.main:
                self._unsettled = False
                return
            elif len(window) < sizes.window:
                # Main has too many keys and the window has room: main's hottest keys go behind the window's coldest.
                key = (protected or probation).popitem()[0]
                window[key] = None
                window.move_to_end(key, last=False)

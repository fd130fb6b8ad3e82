"""W-TinyLFU: a recency window in front of a segmented main part that only frequent keys may enter."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from memory_node.domain.errors import InvalidValueError
from memory_node.short_term.replacement import Key, OnEvict, checked_capacity, ignore_eviction

COUNT_MAX = 15
_HASH_FACTOR = 0x9E3779B97F4A7C15  # 2^64 / golden ratio (Knuth's multiplicative hashing)
_HASH_MASK = (1 << 62) - 1
_HALVED = bytes((value >> 1) & 0x77 for value in range(256))


class FrequencySketch:
    """Count-min sketch with conservative update (Cormode and Muthukrishnan 2005; Einziger et al. 2017).

    Four rows of 4-bit counters, two rows to a byte. An estimate is never below the true count since the last halving
    (counts end at 15), and with a width of at least e / epsilon counters a row it exceeds it by more than epsilon times
    the additions with a probability below e^-4. After `sample_size` additions every counter is halved.

    doorkeeper: keys seen once since the last halving are kept in a one-bit filter instead and take no counters.
    """

    def __init__(self, capacity: int, sample_size: int = 0, doorkeeper: bool = False) -> None:
        self.sample_size = sample_size or 10 * checked_capacity(capacity)
        self.additions = 0
        self.halvings = 0
        width = 64
        while width < 4 * capacity:
            width *= 2
        self.width = width
        self._mask = width - 1
        self._shift = width.bit_length() - 1
        self._upper = bytearray(width)
        self._lower = bytearray(width)
        self._door = bytearray(width) if doorkeeper else None

    @property
    def age(self) -> float:
        """Share of the sample, in [0, 1), that has been added since the last halving."""
        return self.additions / self.sample_size

    def add(self, key: Key) -> int:
        """Count one occurrence of the key and return the estimate that includes it."""
        mixed = (hash(key) * _HASH_FACTOR) & _HASH_MASK
        mixed ^= mixed >> 31
        mask, upper, lower = self._mask, self._upper, self._lower
        step = (mixed >> self._shift) | 1
        a = mixed & mask
        self.additions += 1
        if self.additions >= self.sample_size:
            self._halve()
            upper, lower = self._upper, self._lower
        seen_before = 0
        if self._door is not None:
            if not self._door[a]:
                self._door[a] = 1
                return 1
            seen_before = 1
        b = (mixed + step) & mask
        c = (mixed + 2 * step + 1) & mask
        d = (mixed + 3 * step + 3) & mask
        first, second, third, fourth = upper[a] >> 4, upper[b] & 15, lower[c] >> 4, lower[d] & 15
        least = first if first < second else second
        if third < least:
            least = third
        if fourth < least:
            least = fourth
        if least == COUNT_MAX:
            return COUNT_MAX
        # Conservative update: only counters at the minimum can be the key's own count.
        if first == least:
            upper[a] += 16
        if second == least:
            upper[b] += 1
        if third == least:
            lower[c] += 16
        if fourth == least:
            lower[d] += 1
        return least + 1 + seen_before

    def estimate(self, key: Key) -> int:
        """Return about how often the key came lately; never less than it did, up to 15."""
        mixed = (hash(key) * _HASH_FACTOR) & _HASH_MASK
        mixed ^= mixed >> 31
        mask, upper, lower = self._mask, self._upper, self._lower
        step = (mixed >> self._shift) | 1
        a = mixed & mask
        first, second = upper[a] >> 4, upper[(mixed + step) & mask] & 15
        third, fourth = lower[(mixed + 2 * step + 1) & mask] >> 4, lower[(mixed + 3 * step + 3) & mask] & 15
        least = first if first < second else second
        if third < least:
            least = third
        if fourth < least:
            least = fourth
        return least if self._door is None else least + self._door[a]

    def _halve(self) -> None:
        self._upper = self._upper.translate(_HALVED)
        self._lower = self._lower.translate(_HALVED)
        if self._door is not None:
            self._door = bytearray(self.width)
        self.additions //= 2
        self.halvings += 1


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
    def of_share(cls, capacity: int, window_share: float) -> SegmentSizes:
        """Return the sizes for a window of a share of the capacity; four fifths of main are protected.

        Raises:
            InvalidValueError: the share is not in [0, 1].
        """
        if not 0.0 <= window_share <= 1.0:
            raise InvalidValueError(f"window_share: expected 0 to 1, got {window_share}")
        window = min(checked_capacity(capacity), max(1, round(window_share * capacity)))
        main = capacity - window
        return cls(window, main, min(int(0.8 * main), max(0, main - 1)))


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
        self.capacity = checked_capacity(capacity)
        self._sizes = sizes or SegmentSizes.of_share(capacity, 0.01)
        if self._sizes.window + self._sizes.main != capacity:
            raise InvalidValueError(f"W-TinyLFU: window and main of {self._sizes} do not add up to {capacity}")
        self._window: OrderedDict[Key, None] = OrderedDict()
        self._probation: OrderedDict[Key, None] = OrderedDict()
        self._protected: OrderedDict[Key, None] = OrderedDict()
        self.on_evict = on_evict
        self.sketch = FrequencySketch(capacity, doorkeeper=doorkeeper)

    def __len__(self) -> int:
        return len(self._window) + len(self._probation) + len(self._protected)

    def __contains__(self, key: object) -> bool:
        return key in self._window or key in self._protected or key in self._probation

    def __iter__(self) -> Iterator[Key]:
        return chain(self._probation, self._protected, self._window)

    def access(self, key: Key) -> bool:
        """Use the key, inserting it when absent; return whether it was held."""
        self.sketch.add(key)
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

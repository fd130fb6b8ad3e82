"""Estimates the recent frequency of keys in fixed memory: a count-min sketch of 4-bit counters that are halved with
age."""

from __future__ import annotations

from memory_node.short_term.replacement import Key, checked_capacity

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

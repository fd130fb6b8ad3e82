"""Recent frequency of each key, one count a key, for simulations: a sketch would take too much time."""

from __future__ import annotations

from memory_node.short_term.replacement import Key
from memory_node.short_term.sketch import COUNT_MAX

_COUNT_BITS = COUNT_MAX.bit_length()


class AgedCounts:
    """Counts to 15 that are halved together after each `sample_size` additions; a third of the sketch's time.

    A count is stored with the number of halvings at that time and halved when it is looked at. When there are twice
    `most_keys`, those with the lowest counts are forgotten (lossy counting, Manku and Motwani 2002).
    """

    def __init__(self, sample_size: int, most_keys: int) -> None:
        self.sample_size = sample_size
        self.most_keys = most_keys
        self.additions = 0
        self.halvings = 0
        self._counts: dict[Key, int] = {}

    @property
    def age(self) -> float:
        """Share of the sample, in [0, 1), that has been added since the last halving."""
        return self.additions / self.sample_size

    def __len__(self) -> int:
        return len(self._counts)

    def add(self, key: Key) -> int:
        """Count one occurrence of the key and return the count that includes it."""
        self.additions += 1
        if self.additions >= self.sample_size:
            self.additions //= 2
            self.halvings += 1
        counts, halvings = self._counts, self.halvings
        stored = counts.get(key)
        if stored is None:
            count = 1
        else:
            count = ((stored & COUNT_MAX) >> (halvings - (stored >> _COUNT_BITS))) + 1
            if count > COUNT_MAX:
                count = COUNT_MAX
        counts[key] = halvings << _COUNT_BITS | count
        if len(counts) > 2 * self.most_keys:
            self._forget_lowest()
        return count

    def estimate(self, key: Key) -> int:
        """Return how often the key came lately, up to 15."""
        stored = self._counts.get(key)
        return 0 if stored is None else (stored & COUNT_MAX) >> (self.halvings - (stored >> _COUNT_BITS))

    def _forget_lowest(self) -> None:
        now, kept, lowest = self.halvings, self._counts, 0
        while len(kept) > self.most_keys:
            kept = {
                key: stored
                for key, stored in kept.items()
                if (stored & COUNT_MAX) >> (now - (stored >> _COUNT_BITS)) > lowest
            }
            lowest += 1
        self._counts = kept

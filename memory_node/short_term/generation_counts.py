"""Exact recent counts that age by generations, for simulations where a sketch's arithmetic would cost too much."""

from __future__ import annotations

from memory_node.short_term.replacement import Key


class GenerationCounts:
    """Counts as FrequencySketch does, in dicts: a fifth of its time, a hundred bytes a key instead of eight.

    Half a sample is one generation. A key's count is halved when a generation ends; a key that then stays away for a
    whole generation is forgotten. So at most two generations of keys are in memory, and no halving ever scans them.
    """

    def __init__(self, sample_size: int) -> None:
        self.sample_size = sample_size
        self.additions = 0
        self.halvings = 0
        self._current: dict[Key, int] = {}
        self._previous: dict[Key, int] = {}

    @property
    def age(self) -> float:
        """Share of the sample, in [0, 1), that has been added since the last halving."""
        return self.additions / self.sample_size

    def add(self, key: Key) -> int:
        """Count one occurrence of the key and return the count that includes it."""
        count = self._current.get(key)
        if count is None:
            count = self._previous.get(key, 0) >> 1
        self._current[key] = count = count + 1
        self.additions += 1
        if self.additions >= self.sample_size:
            self._previous = self._current
            self._current = {}
            self.additions //= 2
            self.halvings += 1
        return count

    def estimate(self, key: Key) -> int:
        """Return how often the key came lately."""
        count = self._current.get(key)
        return self._previous.get(key, 0) >> 1 if count is None else count

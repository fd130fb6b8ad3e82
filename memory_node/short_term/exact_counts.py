"""What FrequencySketch counts, without its collisions: for simulations, where a sketch would cost too much time."""

from __future__ import annotations

from memory_node.short_term.replacement import Key
from memory_node.short_term.sketch import COUNT_MAX

_COUNT_BITS = COUNT_MAX.bit_length()


class ExactCounts:
    """Counts to 15 that are halved together, in a dict: a third of the sketch's time, a hundred bytes a key.

    A count is stored with the number of halvings at that time and halved when it is looked at. Keys of whose count
    nothing is left are forgotten whenever the others have doubled, so that memory stays within a few samples of keys.
    """

    def __init__(self, sample_size: int) -> None:
        self.sample_size = sample_size
        self.additions = 0
        self.halvings = 0
        self._counts: dict[Key, int] = {}
        self._sweep_at = sample_size

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
        if len(counts) > self._sweep_at:
            self._sweep()
        return count

    def estimate(self, key: Key) -> int:
        """Return how often the key came lately, up to 15."""
        stored = self._counts.get(key)
        return 0 if stored is None else (stored & COUNT_MAX) >> (self.halvings - (stored >> _COUNT_BITS))

    def _sweep(self) -> None:
        now = self.halvings
        alive = {
            key: stored
            for key, stored in self._counts.items()
            if (stored & COUNT_MAX) >> (now - (stored >> _COUNT_BITS))
        }
        self._counts = alive
        self._sweep_at = 2 * len(alive) + self.sample_size

"""What the short-term memory says about itself."""

from __future__ import annotations

from dataclasses import dataclass

WARM_OCCUPANCY = 0.95  # KARMA: a cache is warm from here on


@dataclass(frozen=True)
class CacheStatistics:
    """Counts since start-up. sketch_age in [0, 1): share of the sample since the counters were last halved, 0 without.

    lookups counts needs (one question is one lookup, whatever it touches), hits those that the cache could answer.
    """

    policy: str
    capacity: int
    size: int
    lookups: int
    hits: int
    insertions: int
    merges: int
    evictions: int
    removals: int
    pinned: int
    sketch_age: float
    sketch_halvings: int
    crop_bytes: int
    state_conflicts: int

    @property
    def hit_ratio(self) -> float | None:
        """Hits over lookups, or None before the first lookup."""
        return self.hits / self.lookups if self.lookups else None

    @property
    def occupancy(self) -> float:
        """Share of the capacity in use."""
        return self.size / self.capacity

    @property
    def warm(self) -> bool:
        """Whether the cache has filled up (occupancy over 95 %)."""
        return self.occupancy > WARM_OCCUPANCY

"""What the short-term memory says about itself."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from memory_node.short_term.replacement import ToldPolicy


class LookupCounts:
    """How many lookups were worked off, and how many of them were hits.

    `note` may be called by any thread at any time, `work_off` only under the writers' lock.
    """

    def __init__(self) -> None:
        self._noted: deque[str] = deque()
        self.lookups = 0
        self.hits = 0

    def note(self, answered_by: str) -> None:
        """Note one lookup; answered_by: the object id that answered it, or "" for a miss."""
        self._noted.append(answered_by)

    def work_off(self, policy: ToldPolicy) -> None:
        """Count what was noted, and tell the policy of the units that were used."""
        while self._noted:
            answered_by = self._noted.popleft()
            self.lookups += 1
            if answered_by:
                self.hits += 1
                # It may have been evicted between the answer and now; then there is nothing to use.
                if answered_by in policy:
                    policy.access(answered_by)


WARM_OCCUPANCY = 0.95  # KARMA: a cache is warm from here on


@dataclass(frozen=True)
class CacheStatistics:
    """Counts since start-up. warm: occupancy has been over 95 %, so that KARMA's warm-up is over.

    sketch_age in [0, 1): share of the sample since the counters were last halved, 0 without a sketch. lookups counts
    needs (one question is one lookup, whatever it touches), hits those that the cache could answer.
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
    warm: bool

    @property
    def hit_ratio(self) -> float | None:
        """Hits over lookups, or None before the first lookup."""
        return self.hits / self.lookups if self.lookups else None

    @property
    def occupancy(self) -> float:
        """Share of the capacity in use."""
        return self.size / self.capacity

    def figures(self) -> dict[str, float]:
        """Return what tells most of it, by name; no hit ratio before the first lookup."""
        figures = {"occupancy": self.occupancy, "warm": float(self.warm), "lookups": self.lookups, "hits": self.hits}
        figures.update({"evictions": self.evictions, "sketch_age": self.sketch_age, "pinned": self.pinned})
        return figures if self.hit_ratio is None else {**figures, "hit_ratio": self.hit_ratio}

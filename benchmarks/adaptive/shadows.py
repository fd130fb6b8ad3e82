"""The policies that the adaptive one chooses from, simulated side by side on keys alone, and which one leads."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.adaptive.lirs import LirsPolicy
from memory_node.short_term.lru import LruPolicy
from memory_node.short_term.replacement import Key
from memory_node.short_term.w_tinylfu import COUNT_MAX, SegmentSizes, WTinyLfuPolicy

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


# Sample sizes in capacities. Long counts separate the frequent keys of a stationary workload. A tiny cache needs a
# sample of many times its size.
_SHORT_SAMPLE = 10
_LONG_SAMPLE = 60
_LONG_SAMPLE_MIN = 500
_COUNTED_KEYS = 8
_COUNTED_KEYS_MIN = 64
# In capacities: after so many accesses without a hit of any candidate, their contents are worthless.
_IDLE = 6
# A lead of less than this share of the hits is chance, or not worth a change.
_NOISE = 0.003


@dataclass(frozen=True)
class Candidate:
    """One way to run W-TinyLFU: LRU is a window of everything. long_memory: count over a longer sample."""

    name: str
    window_share: float
    margin: int = 0
    long_memory: bool = False


CANDIDATES = (
    Candidate("lru", 1.0),
    Candidate("w-tinylfu 30 %", 0.3, long_memory=True),
    Candidate("sticky", 0.01, margin=1, long_memory=True),
    Candidate("w-tinylfu 1 %", 0.01),
)


class ShadowTinyLfu(WTinyLfuPolicy):
    """W-TinyLFU by counts that somebody else adds to, for several that see the same keys.

    margin: how many counts more than one above the victim a candidate needs; 1 keeps part of a loop that does not fit.
    """

    def __init__(self, capacity: int, sizes: SegmentSizes, counts: AgedCounts, margin: int = 0) -> None:
        super().__init__(capacity, sizes)
        self._shared, self._margin = counts, margin

    def _count(self, key: Key) -> None:
        """Leave it to the owner of the counts."""

    def _wins(self, candidate: Key, victim: Key) -> bool:
        return self._shared.estimate(candidate) > self._shared.estimate(victim) + self._margin


ShadowPolicy = LirsPolicy | LruPolicy | ShadowTinyLfu


class Shadows:
    """LIRS and every candidate, run on the same keys without values; scores forget with a half-life.

    half_life: in accesses; a workload that changes is followed within about so many. hits: of each shadow since the
    caller last called start_counting().
    """

    def __init__(self, capacity: int, half_life: int, check_interval: int) -> None:
        counted = max(_COUNTED_KEYS * capacity, _COUNTED_KEYS_MIN)
        self.short = AgedCounts(_SHORT_SAMPLE * capacity, counted)
        self.long = AgedCounts(max(_LONG_SAMPLE * capacity, _LONG_SAMPLE_MIN), counted)
        shadows = [_shadow(capacity, candidate, self) for candidate in CANDIDATES]
        self.policies: list[ShadowPolicy] = [LirsPolicy(capacity), *shadows]
        self.names = ["lirs", *(candidate.name for candidate in CANDIDATES)]
        self._uses = [policy.access for policy in self.policies]
        self.hits = [0] * len(self.policies)
        self._decay = 0.5 ** (check_interval / half_life)
        self._scored: Sequence[int] = tuple(self.hits)
        self._scores = [0.0] * len(self.policies)
        self._checks_until_idle = math.ceil(_IDLE * capacity / check_interval)
        self._checks_without_hit = 0

    @property
    def idle(self) -> bool:
        """Whether no candidate has had a hit for long, so that none is better than another."""
        return self._checks_without_hit >= self._checks_until_idle

    def use(self, key: Key) -> None:
        """Let every shadow use the key, and count those that held it."""
        self.short.add(key)
        self.long.add(key)
        hits = self.hits
        for index, use in enumerate(self._uses):
            if use(key):
                hits[index] += 1

    def remove(self, key: Key) -> None:
        """Take the key out of every shadow."""
        for policy in self.policies:
            policy.remove(key)

    def start_counting(self) -> None:
        """Set the hits of all shadows to 0; their scores stay."""
        self.hits = [0] * len(self.policies)
        self._scored = tuple(self.hits)

    def challenger(self, leader: int) -> tuple[int, float]:
        """Return the shadow that scores best and by how many hits it is clearly ahead of the leader; age the scores."""
        scores = [score + hits - scored for score, hits, scored in zip(self._scores, self.hits, self._scored)]
        best = max(range(len(scores)), key=scores.__getitem__)
        ahead = scores[best] * (1.0 - _NOISE) - scores[leader]
        self._checks_without_hit = 0 if scores[best] >= 1.0 else self._checks_without_hit + 1
        self._scores = [score * self._decay for score in scores]
        self._scored = tuple(self.hits)
        return best, ahead


def _shadow(capacity: int, candidate: Candidate, shadows: Shadows) -> ShadowPolicy:
    if candidate.window_share == 1.0:
        return LruPolicy(capacity)
    counts = shadows.long if candidate.long_memory else shadows.short
    sizes = SegmentSizes.of_share(capacity, candidate.window_share)
    return ShadowTinyLfu(capacity, sizes, counts, candidate.margin)

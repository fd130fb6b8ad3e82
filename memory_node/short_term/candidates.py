"""The policies that the adaptive one chooses from, simulated side by side on keys alone, and which one leads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from memory_node.short_term.exact_counts import ExactCounts
from memory_node.short_term.fifo import FifoPolicy
from memory_node.short_term.lru import LruPolicy
from memory_node.short_term.replacement import Key
from memory_node.short_term.w_tinylfu import SegmentSizes, WTinyLfuPolicy

# In capacities. Counts kept for long tell apart what a stationary workload uses often; a tiny cache needs a sample that
# is many times its size.
_SHORT_SAMPLE = 10
# A lead of less than this share of the hits is chance, or not worth a change.
_NOISE = 0.003
_LONG_SAMPLE = 30
_LONG_SAMPLE_MIN = 1000


@dataclass(frozen=True)
class Candidate:
    """One way to run W-TinyLFU: LRU is a window of everything. long_memory: count over a longer sample."""

    name: str
    window_share: float
    margin: int = 0
    long_memory: bool = False


CANDIDATES = (
    Candidate("w-tinylfu 1 %", 0.01),
    Candidate("lru", 1.0),
    Candidate("w-tinylfu 20 %", 0.2),
    Candidate("w-tinylfu 60 %", 0.6),
    Candidate("sticky", 0.01, margin=1, long_memory=True),
)

ShadowPolicy = FifoPolicy | LruPolicy | WTinyLfuPolicy


class Shadows:
    """Every candidate, and FIFO if wanted, run on the same keys without values; scores forget with a half-life.

    half_life: in accesses; a workload that changes is followed within about so many.
    """

    def __init__(self, capacity: int, half_life: int, check_interval: int, with_fifo: bool) -> None:
        self.short = ExactCounts(_SHORT_SAMPLE * capacity)
        self.long = ExactCounts(max(_LONG_SAMPLE * capacity, _LONG_SAMPLE_MIN))
        self.policies: list[ShadowPolicy] = [_shadow(capacity, candidate, self) for candidate in CANDIDATES]
        self.names = [candidate.name for candidate in CANDIDATES]
        if with_fifo:
            self.policies.append(FifoPolicy(capacity))
            self.names.append("fifo")
        self._uses: list[Callable[[Key], bool]] = [
            policy.use if isinstance(policy, WTinyLfuPolicy) else policy.access for policy in self.policies
        ]
        self.scores = [0.0] * len(self.policies)
        self._decay = 0.5 ** (check_interval / half_life)

    def use(self, key: Key) -> None:
        """Let every shadow use the key, and score those that held it."""
        self.short.add(key)
        self.long.add(key)
        scores = self.scores
        for index, use in enumerate(self._uses):
            if use(key):
                scores[index] += 1.0

    def remove(self, key: Key) -> None:
        """Take the key out of every shadow."""
        for policy in self.policies:
            policy.remove(key)

    def challenger(self, leader: int) -> tuple[int, float]:
        """Return the shadow that scores best and by how many hits it is clearly ahead of the leader; age the scores."""
        scores = self.scores
        best = max(range(len(scores)), key=scores.__getitem__)
        ahead = scores[best] * (1.0 - _NOISE) - scores[leader]
        self.scores = [score * self._decay for score in scores]
        return best, ahead


def _shadow(capacity: int, candidate: Candidate, shadows: Shadows) -> ShadowPolicy:
    if candidate.window_share == 1.0:
        return LruPolicy(capacity)
    sketch = shadows.long if candidate.long_memory else shadows.short
    sizes = SegmentSizes.of_share(capacity, candidate.window_share)
    return WTinyLfuPolicy(capacity, sizes, sketch=sketch, margin=candidate.margin)

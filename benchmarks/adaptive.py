"""A replacement policy that simulates several and follows the one with most hits; for comparison: no robot runs it."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from memory_node.short_term.lru import LruPolicy
from memory_node.short_term.replacement import Key, OnEvict, checked_capacity, ignore_eviction
from memory_node.short_term.w_tinylfu import COUNT_MAX, SegmentSizes, WTinyLfuPolicy

_COLD_SHARE = 0.01
# Ghosts are kept for this many capacities of keys: a loop that is this much longer than the cache is still recognised.
_GHOST_CAPACITIES = 5


class LirsPolicy:
    """Low inter-reference recency set (Jiang and Zhang 2002), with a bound on the keys that it remembers.

    Nearly all of the capacity is for hot keys, whose last two uses came close together. The rest is for cold keys,
    which leave in the order in which they came. A cold key that comes again before the oldest hot key does takes its
    place. Keys that left are remembered as ghosts, so that they can become hot in the same way. Of a loop that does not
    fit the same part stays.
    """

    def __init__(self, capacity: int) -> None:
        self.capacity = checked_capacity(capacity)
        self.on_evict: OnEvict = ignore_eviction
        cold = min(max(1, round(_COLD_SHARE * capacity)), capacity - 1)
        self._most_hot = capacity - cold
        self._most_ghosts = _GHOST_CAPACITIES * capacity
        # By last use: the hot keys, and the cold ones and ghosts that were used later than the oldest hot one.
        self._stack: OrderedDict[Key, None] = OrderedDict()
        self._hot: set[Key] = set()
        self._cold: OrderedDict[Key, None] = OrderedDict()
        self._ghosts: OrderedDict[Key, None] = OrderedDict()

    def __len__(self) -> int:
        return len(self._hot) + len(self._cold)

    def __contains__(self, key: object) -> bool:
        return key in self._hot or key in self._cold

    def __iter__(self) -> Iterator[Key]:
        return chain(self._cold, self._hot)

    def access(self, key: Key) -> bool:
        """Use the key, inserting it when absent; return whether it was held."""
        if key in self._hot:
            self._stack.move_to_end(key)
            self._forget_before_oldest_hot()
            return True
        if key in self._cold:
            if key in self._stack:
                del self._cold[key]
                self._warm(key)
            else:
                self._stack[key] = None
                self._cold.move_to_end(key)
            return True
        self._insert(key)
        return False

    def remove(self, key: Key) -> bool:
        """Take the key out; return whether it was held."""
        held = key in self
        self._hot.discard(key)
        self._cold.pop(key, None)
        self._ghosts.pop(key, None)
        self._stack.pop(key, None)
        self._forget_before_oldest_hot()
        return held

    def leaving(self) -> Iterator[Key]:
        """Yield cold keys as they came, then hot ones by their last use."""
        return chain(self._cold, (key for key in self._stack if key in self._hot))

    def segment(self, key: Key) -> str:
        """Return hot or cold."""
        if key in self._hot:
            return "hot"
        return "cold" if key in self._cold else ""

    def evict(self) -> Key:
        """Evict the oldest cold key, else the hot key that was used longest ago; return it."""
        if self._cold:
            key = self._cold.popitem(last=False)[0]
            if key in self._stack:
                self._remember(key)
        else:
            key = self._stack.popitem(last=False)[0]
            self._hot.discard(key)
            self._forget_before_oldest_hot()
        self.on_evict(key)
        return key

    def _insert(self, key: Key) -> None:
        if len(self) >= self.capacity:
            self.evict()
        if key in self._ghosts:
            del self._ghosts[key]
            self._warm(key)
        elif len(self._hot) < self._most_hot and not self._cold:
            self._hot.add(key)
            self._stack[key] = None
            self._forget_before_oldest_hot()
        else:
            self._cold[key] = None
            self._stack[key] = None

    def _warm(self, key: Key) -> None:
        """Make a key of the stack hot; where there are hot ones enough, the one used longest ago turns cold."""
        self._hot.add(key)
        self._stack.move_to_end(key)
        if len(self._hot) > self._most_hot:
            oldest = self._stack.popitem(last=False)[0]
            self._hot.discard(oldest)
            self._cold[oldest] = None
        self._forget_before_oldest_hot()

    def _remember(self, key: Key) -> None:
        self._ghosts[key] = None
        if len(self._ghosts) > self._most_ghosts:
            del self._stack[self._ghosts.popitem(last=False)[0]]

    def _forget_before_oldest_hot(self) -> None:
        """Drop keys that were used before the oldest hot key: a single further use could not make them hot. Without a
        hot key all stay, so that the next repeated key becomes hot.
        """
        stack, hot = self._stack, self._hot
        while hot and (oldest := next(iter(stack))) not in hot:
            del stack[oldest]
            self._ghosts.pop(oldest, None)


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


# A challenger must be ahead by this many hits, and by the price of a change for each key that it would have to fetch.
_LEAD = 3.0
_PRICE = 0.1
_PRICE_MAX = 1.0
_DEARER = 1.5
_CHEAPER = 0.7
_HALF_LIFE = 10  # capacities
_HALF_LIFE_MIN = 1000
_CHECK_INTERVAL_MIN = 16


class ChangePrice:
    """The lead in hits that a change of leader needs for each key that it would fetch. It is learnt from past changes:
    it grows after a change that won fewer hits than staying would have, and falls after one that paid.
    """

    def __init__(self) -> None:
        self.hits_a_key = _PRICE
        self._former = -1

    def pay(self, leader: int, own_hits: int, shadow_hits: list[int]) -> None:
        """Note that `leader` is left for one with more hits; both counts of hits are those since the last change."""
        if self._former >= 0:
            lost = own_hits < shadow_hits[self._former]
            price = self.hits_a_key * (_DEARER if lost else _CHEAPER)
            self.hits_a_key = min(max(price, _PRICE), _PRICE_MAX)
        self._former = leader

    def forget_former(self) -> None:
        """Note that the leader is left for another reason, which says nothing of the price."""
        self._former = -1


class FollowingPolicy:
    """Holds the keys that the leading shadow would hold, as far as they have been fetched (Gramacy et al. 2002).

    Shadows are full simulations. When the lead changes, keys that only the former leader wanted are "strays": they stay
    until the new leader's keys need their room. What the leader itself gives up goes before them.
    """

    def __init__(self, capacity: int, on_evict: OnEvict = ignore_eviction) -> None:
        self.capacity = checked_capacity(capacity)
        self.on_evict = on_evict
        self._check_interval = max(_CHECK_INTERVAL_MIN, capacity // 8)
        half_life = max(_HALF_LIFE * capacity, _HALF_LIFE_MIN)
        self._shadows = Shadows(capacity, half_life, self._check_interval)
        self._held: OrderedDict[Key, None] = OrderedDict()
        self._strays: OrderedDict[Key, None] = OrderedDict()
        self._until_check = self._check_interval
        self._leader = 0
        self._lru = self._shadows.names.index("lru")
        self._price = ChangePrice()
        self._hits = 0  # since the last change
        self._follow(0)

    @property
    def leader(self) -> str:
        """The name of the candidate that is followed."""
        return self._shadows.names[self._leader]

    def __len__(self) -> int:
        return len(self._held)

    def __contains__(self, key: object) -> bool:
        return key in self._held

    def __iter__(self) -> Iterator[Key]:
        return iter(self._held)

    def access(self, key: Key) -> bool:
        """Use the key, inserting it when absent; return whether it was held."""
        held = self._held
        was_held = key in held
        if was_held:
            held.move_to_end(key)
            self._hits += 1
        else:
            held[key] = None
        self._strays.pop(key, None)
        self._shadows.use(key)
        if len(held) > self.capacity:
            self.evict()
        self._until_check -= 1
        if not self._until_check:
            self._check_lead()
        return was_held

    def remove(self, key: Key) -> bool:
        """Take the key out; return whether it was held."""
        self._shadows.remove(key)
        self._strays.pop(key, None)
        return self._held.pop(key, self) is None

    def leaving(self) -> Iterator[Key]:
        """Yield the strays, then what the leader would give up."""
        leader = self._shadows.policies[self._leader]
        return chain(self._strays, (key for key in leader.leaving() if key in self._held))

    def segment(self, key: Key) -> str:
        """Return the leader's part, or stray where only a former leader wanted the key."""
        if key not in self._held:
            return ""
        return self._shadows.policies[self._leader].segment(key) or "stray"

    def evict(self) -> Key:
        """Evict what the leader gave up last, else the stray used longest ago; return it."""
        while not self._strays:
            self._shadows.policies[self._leader].evict()
        key = self._strays.popitem(last=False)[0]
        del self._held[key]
        self.on_evict(key)
        return key

    def _left_by_leader(self, key: Key) -> None:
        if key in self._held:
            self._strays[key] = None
            self._strays.move_to_end(key, last=False)

    def _check_lead(self) -> None:
        self._until_check = self._check_interval
        challenger, ahead = self._shadows.challenger(self._leader)
        if len(self._held) < self.capacity:
            return
        if self._shadows.idle:
            # A robot more likely needs what it saw last than what it saw first.
            if self._leader != self._lru:
                self._price.forget_former()
                self._follow(self._lru)
            return
        if ahead <= _LEAD:
            return
        missing = sum(key not in self._held for key in self._shadows.policies[challenger])
        if ahead > _LEAD + self._price.hits_a_key * missing:
            self._price.pay(self._leader, self._hits, self._shadows.hits)
            self._follow(challenger)

    def _follow(self, index: int) -> None:
        policies = self._shadows.policies
        policies[self._leader].on_evict = ignore_eviction
        self._leader = index
        leader = policies[index]
        leader.on_evict = self._left_by_leader
        self._strays = OrderedDict((key, None) for key in self._held if key not in leader)
        self._hits = 0
        self._shadows.start_counting()

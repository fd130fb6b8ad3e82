"""Simulates several replacement policies and follows the one with most hits on the present workload."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from itertools import chain

from benchmarks.adaptive.shadows import Shadows
from memory_node.short_term.replacement import Key, OnEvict, checked_capacity, ignore_eviction

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

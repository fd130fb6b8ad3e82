"""LIRS: keeps the keys whose last two uses came closest together, whatever came in between."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from itertools import chain

from memory_node.short_term.replacement import Key, OnEvict, checked_capacity, ignore_eviction

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

    def __init__(self, capacity: int, on_evict: OnEvict = ignore_eviction) -> None:
        self.capacity = checked_capacity(capacity)
        self.on_evict = on_evict
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

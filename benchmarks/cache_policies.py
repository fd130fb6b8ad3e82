"""Policies that `bench cache` compares with and no robot runs: FIFO and LFU."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator

from memory_node.short_term.lru import LruPolicy
from memory_node.short_term.replacement import Key, OnEvict, checked_capacity, ignore_eviction


class FifoPolicy(LruPolicy):
    """KARMA's baseline: a queue in which a known object is merged in place."""

    def access(self, key: Key) -> bool:
        """Insert the key when absent; return whether it was held."""
        return key in self or super().access(key)

    def segment(self, key: Key) -> str:
        """Return the one part that there is."""
        return "queue" if key in self else ""


class LfuPolicy:
    """Frequency alone, counted while a key is held; constant time by one queue for each count (Shah et al. 2010)."""

    def __init__(self, capacity: int, on_evict: OnEvict = ignore_eviction) -> None:
        self.capacity = checked_capacity(capacity)
        self.on_evict = on_evict
        self._count_of: dict[Key, int] = {}
        self._queues: dict[int, OrderedDict[Key, None]] = {}
        self._least = 1

    def __len__(self) -> int:
        return len(self._count_of)

    def __contains__(self, key: object) -> bool:
        return key in self._count_of

    def __iter__(self) -> Iterator[Key]:
        return iter(self._count_of)

    def access(self, key: Key) -> bool:
        """Use the key, inserting it when absent; return whether it was held."""
        count = self._count_of.get(key, 0)
        if count:
            self._leave(key, count)
            if self._least == count and count not in self._queues:
                self._least = count + 1
        else:
            if len(self._count_of) >= self.capacity:
                self.evict()
            self._least = 1
        self._count_of[key] = count + 1
        self._queues.setdefault(count + 1, OrderedDict())[key] = None
        return count > 0

    def remove(self, key: Key) -> bool:
        """Take the key out; return whether it was held."""
        count = self._count_of.pop(key, 0)
        if count:
            self._leave(key, count)
        return count > 0

    def leaving(self) -> Iterator[Key]:
        """Yield the keys with the least count first, of one count the oldest."""
        for count in sorted(self._queues):
            yield from self._queues[count]

    def segment(self, key: Key) -> str:
        """Return the count of a key."""
        return f"used {self._count_of[key]} times" if key in self._count_of else ""

    def evict(self) -> Key:
        """Evict the least frequently used key and return it."""
        # Only remove() and evict() leave the least count's queue empty; the next insertion resets it to 1.
        while self._least not in self._queues:
            self._least = min(self._queues)
        key = next(iter(self._queues[self._least]))
        self._leave(key, self._count_of.pop(key))
        self.on_evict(key)
        return key

    def _leave(self, key: Key, count: int) -> None:
        queue = self._queues[count]
        del queue[key]
        if not queue:
            del self._queues[count]

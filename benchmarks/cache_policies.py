"""Policies that `bench cache` compares with and no robot runs: FIFO and LFU."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator

from memory_node.short_term.replacement import Key, OnEvict, checked_capacity, ignore_eviction


class FifoPolicy:
    """KARMA's baseline: a queue in which a known object is merged in place."""

    def __init__(self, capacity: int, on_evict: OnEvict = ignore_eviction) -> None:
        self._capacity = checked_capacity(capacity)
        self.on_evict = on_evict
        self._queue: dict[Key, None] = {}

    @property
    def capacity(self) -> int:
        """The most keys that are kept."""
        return self._capacity

    def __len__(self) -> int:
        return len(self._queue)

    def __contains__(self, key: object) -> bool:
        return key in self._queue

    def __iter__(self) -> Iterator[Key]:
        return iter(self._queue)

    def access(self, key: Key) -> bool:
        """Use the key, inserting it when absent; return whether it was held."""
        if key in self._queue:
            return True
        if len(self._queue) >= self._capacity:
            self.evict()
        self._queue[key] = None
        return False

    def remove(self, key: Key) -> bool:
        """Take the key out; return whether it was held."""
        return self._queue.pop(key, self) is None

    def leaving(self) -> Iterator[Key]:
        """Yield the keys as they came."""
        return iter(self._queue)

    def segment(self, key: Key) -> str:
        """Return the one part that there is."""
        return "queue" if key in self._queue else ""

    def evict(self) -> Key:
        """Evict the oldest key and return it."""
        key = next(iter(self._queue))
        del self._queue[key]
        self.on_evict(key)
        return key


class LfuPolicy:
    """Frequency alone, counted while a key is held; constant time by one queue for each count (Shah et al. 2010)."""

    def __init__(self, capacity: int, on_evict: OnEvict = ignore_eviction) -> None:
        self._capacity = checked_capacity(capacity)
        self.on_evict = on_evict
        self._count_of: dict[Key, int] = {}
        self._queues: dict[int, OrderedDict[Key, None]] = {}
        self._least = 1

    @property
    def capacity(self) -> int:
        """The most keys that are kept."""
        return self._capacity

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
            if len(self._count_of) >= self._capacity:
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

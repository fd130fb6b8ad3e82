"""First in, first out: what came first leaves first; a key that comes again keeps its place."""

from __future__ import annotations

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

    def evict(self) -> Key:
        """Evict the oldest key and return it."""
        key = next(iter(self._queue))
        del self._queue[key]
        self.on_evict(key)
        return key

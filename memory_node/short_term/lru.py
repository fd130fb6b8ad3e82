"""Least recently used: what was not used for the longest time leaves first."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator

from memory_node.short_term.replacement import Key, OnEvict, checked_capacity, ignore_eviction


class LruPolicy:
    """Recency alone."""

    def __init__(self, capacity: int, on_evict: OnEvict = ignore_eviction) -> None:
        self.capacity = checked_capacity(capacity)
        self.on_evict = on_evict
        self._order: OrderedDict[Key, None] = OrderedDict()

    def __len__(self) -> int:
        return len(self._order)

    def __contains__(self, key: object) -> bool:
        return key in self._order

    def __iter__(self) -> Iterator[Key]:
        return iter(self._order)

    def access(self, key: Key) -> bool:
        """Use the key, inserting it when absent; return whether it was held."""
        if key in self._order:
            self._order.move_to_end(key)
            return True
        if len(self._order) >= self.capacity:
            self.evict()
        self._order[key] = None
        return False

    def remove(self, key: Key) -> bool:
        """Take the key out; return whether it was held."""
        return self._order.pop(key, self) is None

    def leaving(self) -> Iterator[Key]:
        """Yield the keys, the least recently used one first."""
        return iter(self._order)

    def segment(self, key: Key) -> str:
        """Return the one part that there is."""
        return "recency" if key in self._order else ""

    def evict(self) -> Key:
        """Evict the least recently used key and return it."""
        key = self._order.popitem(last=False)[0]
        self.on_evict(key)
        return key

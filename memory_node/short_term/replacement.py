"""What every replacement policy offers: it decides which keys a cache of fixed capacity keeps."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import Protocol

from memory_node.domain.errors import InvalidValueError

Key = Hashable
OnEvict = Callable[[Key], object]


class ReplacementPolicy(Protocol):
    """A set of at most `capacity` keys. Each evicted key is told to the `on_evict` given at construction.

    Policies are not thread-safe: the cache that owns one serialises its calls. All calls are O(1) amortised.
    """

    capacity: int

    def __len__(self) -> int: ...

    def __contains__(self, key: object) -> bool: ...

    def __iter__(self) -> Iterator[Key]: ...

    def access(self, key: Key) -> bool:
        """Use the key, inserting it when absent (which may evict one); return whether it was held."""

    def remove(self, key: Key) -> bool:
        """Take the key out without calling it an eviction; return whether it was held."""

    def evict(self) -> Key:
        """Evict the key that the policy can best do without, and return it; the policy holds at least one key."""

    def leaving(self) -> Iterator[Key]:
        """Yield all keys in the order in which they would go if none of them were used again.

        The first one is what the next new key evicts from a full policy; uses change the order of the others.
        """

    def segment(self, key: Key) -> str:
        """Return the name of the part that holds a key; "" for one that is not held."""


def checked_capacity(capacity: int) -> int:
    """Return a valid capacity.

    Raises:
        InvalidValueError: it is not a positive integer.
    """
    if capacity < 1:
        raise InvalidValueError(f"capacity: expected at least 1, got {capacity}")
    return int(capacity)


def ignore_eviction(key: Key) -> None:
    """Be the `on_evict` of a policy that nobody listens to."""

"""Builds the policy that a config names, and lets what pending subgoals name stay in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain

from memory_node.domain.errors import InvalidValueError
from memory_node.short_term.config import POLICY_NAMES, ShortTermConfig
from memory_node.short_term.lru import LruPolicy
from memory_node.short_term.replacement import Key, OnEvict, ReplacementPolicy, ignore_eviction
from memory_node.short_term.w_tinylfu import SegmentSizes, WTinyLfuPolicy

PolicyFactory = Callable[[OnEvict], ReplacementPolicy]


class TaskAwarePolicy:
    """Wraps another policy: a pinned key that it would evict is parked, and another one goes instead.

    At most half of the capacity is parked, so that the wrapped policy can always learn. Keys whose pin ends while
    they are parked are the next to leave; of those whose pin ends by itself, the one that was parked first.
    """

    def __init__(
        self, make_inner: PolicyFactory, is_pinned: Callable[[Key], bool], on_evict: OnEvict = ignore_eviction
    ) -> None:
        self.inner = make_inner(self._inner_evicted)
        self.capacity = self.inner.capacity
        self._is_pinned = is_pinned
        self._on_evict = on_evict
        self._parked: dict[Key, None] = {}
        self._released: dict[Key, None] = {}

    def __len__(self) -> int:
        return len(self.inner) + len(self._parked) + len(self._released)

    def __contains__(self, key: object) -> bool:
        return key in self.inner or key in self._parked or key in self._released

    def __iter__(self) -> Iterator[Key]:
        return chain(self._released, self._parked, self.inner)

    def access(self, key: Key) -> bool:
        """Use the key, inserting it when absent; return whether it was held."""
        held = self._parked.pop(key, self) is None or self._released.pop(key, self) is None
        held = self.inner.access(key) or held
        while len(self) > self.capacity:
            self.evict()
        return held

    def remove(self, key: Key) -> bool:
        """Take the key out; return whether it was held."""
        aside = self._parked.pop(key, self) is None or self._released.pop(key, self) is None
        return aside or self.inner.remove(key)

    def leaving(self) -> Iterator[Key]:
        """Yield released keys, then those that the wrapped policy would give up, then pinned ones."""
        inner = list(self.inner.leaving())
        needed = [key for key in inner if self._is_pinned(key)]
        return chain(self._released, (key for key in inner if not self._is_pinned(key)), self._parked, needed)

    def segment(self, key: Key) -> str:
        """Return the wrapped policy's part, or whether a pin keeps the key, or kept it."""
        if key in self._parked:
            return "kept aside"
        return "no longer kept" if key in self._released else self.inner.segment(key)

    def evict(self) -> Key:
        """Evict what the wrapped policy can best do without among what is not pinned; return it."""
        while not self._released:
            oldest = next(iter(self._parked), None)
            if oldest is not None and (not len(self.inner) or not self._is_pinned(oldest)):
                self._release(oldest)
                break
            key = self.inner.evict()
            if key not in self:
                return key
        key = next(iter(self._released))
        del self._released[key]
        self._on_evict(key)
        return key

    def pins_changed(self) -> None:
        """Look again which parked keys are still pinned."""
        for key in [key for key in self._parked if not self._is_pinned(key)]:
            self._release(key)

    def _release(self, key: Key) -> None:
        del self._parked[key]
        self._released[key] = None

    def _inner_evicted(self, key: Key) -> None:
        if not self._is_pinned(key):
            self._on_evict(key)
            return
        self._parked[key] = None
        if len(self._parked) > max(1, self.capacity // 2):
            self._release(next(iter(self._parked)))


# Builds a policy of a config's capacity, which tells what it evicts.
MakePolicy = Callable[[ShortTermConfig, OnEvict], ReplacementPolicy]


def build_policy(config: ShortTermConfig, on_evict: OnEvict = ignore_eviction) -> ReplacementPolicy:
    """Return the policy that the config names.

    Raises:
        InvalidValueError: the name is none of POLICY_NAMES.
    """
    if config.policy == "lru":
        return LruPolicy(config.capacity, on_evict)
    if config.policy == "w-tinylfu":
        sizes = SegmentSizes.of_share(config.capacity, config.window_share)
        return WTinyLfuPolicy(config.capacity, sizes, on_evict, config.doorkeeper)
    raise InvalidValueError(f"policy: expected one of {', '.join(POLICY_NAMES)}, got {config.policy!r}")

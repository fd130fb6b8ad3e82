"""Builds the replacement policy that a config names."""

from __future__ import annotations

from collections.abc import Callable

from memory_node.domain.errors import InvalidValueError
from memory_node.short_term.config import POLICY_NAMES, ShortTermConfig
from memory_node.short_term.lru import LruPolicy
from memory_node.short_term.replacement import OnEvict, ReplacementPolicy, ignore_eviction
from memory_node.short_term.w_tinylfu import SegmentSizes, WTinyLfuPolicy

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

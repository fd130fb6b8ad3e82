"""Runs one cache over one trace: our policies, those that we compare with, Theine, and the optimum."""

from __future__ import annotations

import heapq
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any

from benchmarks.adaptive.following import FollowingPolicy
from benchmarks.cache_policies import FifoPolicy, LfuPolicy
from memory_node.domain.errors import RobotMemoryError
from memory_node.short_term.config import ShortTermConfig
from memory_node.short_term.policies import build_policy
from memory_node.short_term.replacement import OnEvict, ReplacementPolicy
from memory_node.short_term.task_aware import TaskAwarePolicy

COMPARED: dict[str, Callable[[int, OnEvict], ReplacementPolicy]] = {
    "fifo": FifoPolicy,
    "lfu": LfuPolicy,
    "adaptive": FollowingPolicy,
}

# How many keys to come a planner's pending subgoals name; ALFRED's plans handle two to four objects.
PENDING = 4

# Hits, and processor time of the calling thread (s), which other load does not change.
Outcome = tuple[int, float]
Runner = Callable[[Sequence[Hashable], int], Outcome]


class BenchmarkUnavailableError(RobotMemoryError):
    """What a benchmark compares with is not installed."""


def _build(name: str, capacity: int, window_share: float, on_evict: OnEvict) -> ReplacementPolicy:
    if name in COMPARED:
        return COMPARED[name](capacity, on_evict)
    config = ShortTermConfig.of({"capacity": capacity, "policy": name, "expert.window_share": window_share})
    return build_policy(config, on_evict)


def policy_runner(name: str, window_share: float) -> Runner:
    """Return a run of one policy: get or insert a value, as a user of a cache does."""

    def runner(trace: Sequence[Hashable], capacity: int) -> Outcome:
        values: dict[Hashable, Hashable] = {}
        policy = _build(name, capacity, window_share, values.pop)
        access = policy.access
        hits = 0
        started = time.thread_time()
        for key in trace:
            if access(key):
                hits += 1
                values[key]
            else:
                values[key] = key
        return hits, time.thread_time() - started

    return runner


def task_aware_runner(name: str, window_share: float) -> Runner:
    """Return a run of one policy with the keys that come next pinned."""

    def runner(trace: Sequence[Hashable], capacity: int) -> Outcome:
        pinned: set[Hashable] = set()
        policy = TaskAwarePolicy(lambda on_evict: _build(name, capacity, window_share, on_evict), pinned.__contains__)
        hits = 0
        started = time.thread_time()
        for key, pending in zip(trace, _pending(trace)):
            pinned.clear()
            pinned.update(pending)
            policy.pins_changed()
            hits += policy.access(key)
        return hits, time.thread_time() - started

    return runner


def _pending(trace: Sequence[Hashable]) -> Iterator[tuple[Hashable, ...]]:
    """Yield for each access the distinct keys that come next: what a plan's pending subgoals would name."""
    upcoming: OrderedDict[Hashable, int] = OrderedDict()
    ahead = 0
    for position, key in enumerate(trace):
        while ahead < len(trace) and (ahead <= position or len(upcoming) < PENDING):
            upcoming[trace[ahead]] = ahead
            ahead += 1
        yield tuple(upcoming)
        if upcoming.get(key) == position:
            del upcoming[key]


def theine(trace: Sequence[Hashable], capacity: int) -> Outcome:
    """Run Theine's cache without its lock.

    Raises:
        BenchmarkUnavailableError: it is not installed.
    """
    try:
        from theine import Cache
    except ImportError as error:
        raise BenchmarkUnavailableError("--compare theine needs `pip install theine>=2.0`") from error
    cache: Any = Cache(capacity, nolock=True)
    hits = 0
    started = time.thread_time()
    for key in trace:
        _, held = cache.get(key)
        if held:
            hits += 1
        else:
            cache.set(key, key)
    seconds = time.thread_time() - started
    cache.close()
    return hits, seconds


def belady(trace: Sequence[Hashable], capacity: int) -> Outcome:
    """Evict the key whose next use is farthest away (Belady 1966), but never the key that was just inserted."""
    started = time.thread_time()
    next_use: list[int] = [0] * len(trace)
    seen: dict[Hashable, int] = {}
    for position in range(len(trace) - 1, -1, -1):
        next_use[position] = seen.get(trace[position], len(trace) + position)
        seen[trace[position]] = position
    held: dict[Hashable, int] = {}
    farthest: list[tuple[int, int]] = []
    hits = 0
    for position, key in enumerate(trace):
        hits += key in held
        held[key] = next_use[position]
        while len(held) > capacity:
            use, used_at = heapq.heappop(farthest)
            # Entries of keys that were used again since are out of date.
            if held.get(trace[used_at]) == -use:
                del held[trace[used_at]]
        heapq.heappush(farthest, (-next_use[position], position))
    return hits, time.thread_time() - started

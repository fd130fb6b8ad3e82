"""`memory-node bench cache`: hit ratio and throughput of the replacement policies on access traces."""

from __future__ import annotations

import argparse
import heapq
import random
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.adaptive import FollowingPolicy
from benchmarks.rows import emit, open_text
from memory_node.app.progress import progress_bar
from memory_node.domain.errors import InvalidValueError, RobotMemoryError
from memory_node.short_term.config import POLICY_NAMES, ShortTermConfig
from memory_node.short_term.policies import TaskAwarePolicy, build_policy
from memory_node.short_term.replacement import Key, OnEvict, ReplacementPolicy, checked_capacity, ignore_eviction


class FifoPolicy:
    """KARMA's baseline: a queue in which a known object is merged in place."""

    def __init__(self, capacity: int, on_evict: OnEvict = ignore_eviction) -> None:
        self.capacity = checked_capacity(capacity)
        self.on_evict = on_evict
        self._queue: dict[Key, None] = {}

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
        if len(self._queue) >= self.capacity:
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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("--trace", nargs="+", metavar="FILE", required=True, help="one key a line; .gz is read too")
    parser.add_argument("--capacity", nargs="+", type=int, required=True, metavar="N", help="keys that are kept")
    choices = (*POLICY_NAMES, *COMPARED)
    parser.add_argument("--policy", nargs="+", choices=choices, default=list(choices))
    parser.add_argument("--window-share", type=float, default=0.01, help="of w-tinylfu: window (default 0.01)")
    parser.add_argument("--task-aware", action="store_true", help=f"also with the next {PENDING} distinct keys pinned")
    parser.add_argument("--belady", action="store_true", help="also the optimum that knows the future")
    parser.add_argument("--compare", choices=("theine",), action="append", default=[], help="also this library")


def run(args: argparse.Namespace) -> int:
    """Do it; return the exit status."""
    if min(args.capacity) < 1:
        raise InvalidValueError(f"--capacity: expected at least 1, got {min(args.capacity)}")
    emit(rows(args), args.json)
    return 0


def rows(args: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield one row for each trace, capacity and policy."""
    runners = _runners(args)
    with progress_bar() as progress:
        task = progress.add_task("cache", total=len(args.trace) * len(args.capacity) * len(runners))
        for path in args.trace:
            trace = read_trace(path)
            for capacity in args.capacity:
                for name, runner in runners.items():
                    random.seed(args.seed)
                    hits, seconds = runner(trace, capacity)
                    progress.advance(task)
                    yield {
                        "trace": Path(path).name.removesuffix(".gz").removesuffix(".trace"),
                        "capacity": capacity,
                        "policy": name,
                        "accesses": len(trace),
                        "hits": hits,
                        "hit_ratio": hits / len(trace) if trace else 0.0,
                        "ops_per_s": len(trace) / seconds if seconds > 0.0 else 0.0,
                    }


def read_trace(path: str) -> list[int]:
    """Return the keys of a trace in order, each distinct line as a number: hashes of text differ between runs."""
    numbers: dict[str, int] = {}
    with open_text(path) as lines:
        return [numbers.setdefault(line, len(numbers)) for line in (raw.strip() for raw in lines) if line]


def _runners(args: argparse.Namespace) -> dict[str, Runner]:
    runners: dict[str, Runner] = {}
    for name in args.policy:
        runners[name] = policy_runner(name, args.window_share)
        if args.task_aware:
            runners[f"{name}+task"] = task_aware_runner(name, args.window_share)
    if "theine" in args.compare:
        runners["theine"] = theine
    if args.belady:
        runners["belady"] = belady
    return runners

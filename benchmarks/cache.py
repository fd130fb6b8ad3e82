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

from benchmarks.rows import emit, open_text
from memory_node.app.progress import progress_bar
from memory_node.domain.errors import InvalidValueError, RobotMemoryError
from memory_node.short_term.config import POLICY_NAMES, ShortTermConfig
from memory_node.short_term.policies import build_policy
from memory_node.short_term.task_aware import TaskAwarePolicy

HELP = "hit ratio and throughput of the short-term memory's replacement policies"

# How many keys to come a planner's pending subgoals name; ALFRED's plans handle two to four objects.
_PENDING = 4

# Hits, and seconds of the calling thread on the processor: what else the machine does is not the policy.
Outcome = tuple[int, float]
Runner = Callable[[Sequence[Hashable], int], Outcome]


class BenchmarkUnavailableError(RobotMemoryError):
    """What a benchmark compares with is not installed."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("--trace", nargs="+", required=True, metavar="FILE", help="one key a line; .gz is read too")
    parser.add_argument("--capacity", nargs="+", type=int, required=True, metavar="N", help="keys that are kept")
    parser.add_argument("--policy", nargs="+", choices=POLICY_NAMES, default=list(POLICY_NAMES))
    parser.add_argument("--window-share", type=float, default=0.01, help="of w-tinylfu: window (default 0.01)")
    parser.add_argument("--task-aware", action="store_true", help=f"also with the next {_PENDING} distinct keys pinned")
    parser.add_argument("--belady", action="store_true", help="also the optimum that knows the future")
    parser.add_argument("--compare", choices=("theine",), action="append", default=[], help="also this library")
    parser.add_argument("--repeat", type=int, default=1, help="runs of each; the fastest counts for ops_per_s")


def run(args: argparse.Namespace) -> int:
    """Do it; return the exit status."""
    if min(args.capacity) < 1 or args.repeat < 1:
        raise InvalidValueError(f"--capacity and --repeat: expected at least 1, got {args.capacity}, {args.repeat}")
    emit(rows(args), args.json)
    return 0


def rows(args: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield one row for each trace, capacity and policy."""
    runners = _runners(args)
    with progress_bar() as progress:
        task = progress.add_task("cache", total=len(args.trace) * len(args.capacity) * len(runners) * args.repeat)
        for path in args.trace:
            trace = read_trace(path)
            for capacity in args.capacity:
                for name, runner in runners.items():
                    outcomes = []
                    for _ in range(args.repeat):
                        random.seed(args.seed)
                        outcomes.append(runner(trace, capacity))
                        progress.advance(task)
                    hits, seconds = outcomes[0][0], min(seconds for _, seconds in outcomes)
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
        runners[name] = _policy_runner(name, args.window_share)
        if args.task_aware:
            runners[f"{name}+task"] = _task_aware_runner(name, args.window_share)
    if "theine" in args.compare:
        runners["theine"] = _run_theine
    if args.belady:
        runners["belady"] = _run_belady
    return runners


def _config(name: str, capacity: int, window_share: float) -> ShortTermConfig:
    return ShortTermConfig.of({"capacity": capacity, "policy": name, "window_share": window_share})


def _policy_runner(name: str, window_share: float) -> Runner:
    def runner(trace: Sequence[Hashable], capacity: int) -> Outcome:
        # Get-or-insert of a value, as a user of a cache does it.
        values: dict[Hashable, Hashable] = {}
        policy = build_policy(_config(name, capacity, window_share), values.pop)
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


def _task_aware_runner(name: str, window_share: float) -> Runner:
    def runner(trace: Sequence[Hashable], capacity: int) -> Outcome:
        pinned: set[Hashable] = set()
        policy = TaskAwarePolicy(
            lambda on_evict: build_policy(_config(name, capacity, window_share), on_evict), pinned.__contains__
        )
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
        while ahead < len(trace) and (ahead <= position or len(upcoming) < _PENDING):
            upcoming[trace[ahead]] = ahead
            ahead += 1
        yield tuple(upcoming)
        if upcoming.get(key) == position:
            del upcoming[key]


def _run_theine(trace: Sequence[Hashable], capacity: int) -> Outcome:
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


def _run_belady(trace: Sequence[Hashable], capacity: int) -> Outcome:
    """Evict what is needed again last (Belady 1966), but never the key that was just inserted."""
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

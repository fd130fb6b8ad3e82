"""`memory-node bench cache`: hit ratio and throughput of the replacement policies on access traces."""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.cache_runs import COMPARED, PENDING, Runner, belady, policy_runner, task_aware_runner, theine
from benchmarks.rows import emit, open_text
from memory_node.app.progress import progress_bar
from memory_node.domain.errors import InvalidValueError
from memory_node.short_term.config import POLICY_NAMES


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
    parser.add_argument("--repeat", type=int, default=1, help="runs of each; the fastest counts for ops_per_s")


def run(args: argparse.Namespace) -> int:
    """Do it; return the exit status."""
    for name, value in (("capacity", min(args.capacity)), ("repeat", args.repeat)):
        if value < 1:
            raise InvalidValueError(f"--{name}: expected at least 1, got {value}")
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
        runners[name] = policy_runner(name, args.window_share)
        if args.task_aware:
            runners[f"{name}+task"] = task_aware_runner(name, args.window_share)
    if "theine" in args.compare:
        runners["theine"] = theine
    if args.belady:
        runners["belady"] = belady
    return runners

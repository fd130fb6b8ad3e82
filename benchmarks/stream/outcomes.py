"""What a stream of tasks came to, and its rows."""

from __future__ import annotations

import argparse
import statistics
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, TypeVar

from benchmarks.rows import cumulative_success, mean_of, share_of, shuffled
from memory_node.app.progress import progress_bar
from memory_node.lessons.optimizer.curator import Curated


@dataclass(frozen=True)
class StreamTask:
    """One task of a stream.

    progress: in [0, 1], how far it got. steps: commands or skills. told_tokens: of the memory that its executor was
    shown; optimizer_tokens: read and written by the optimizer's model. bank: entries after it. operation: "ADD" or
    "UPDATE", "" where nothing was taken over. lost: why it could not be carried out, "" where it could.
    """

    success: bool
    progress: float
    steps: int
    told_tokens: int = 0
    optimizer_tokens: int = 0
    bank: int = 0
    operation: str = ""
    lost: str = ""


# One order: the tasks of each epoch, one after the other.
Stream = Sequence[Sequence[StreamTask]]
Task = TypeVar("Task")


def robot_streams(
    args: argparse.Namespace,
    name: str,
    tasks: Sequence[Task],
    robot_of: Callable[[], AbstractContextManager[Callable[[Task], StreamTask]]],
) -> list[Stream]:
    """Return the streams of one row. robot_of: begins with a robot that has learnt nothing, and returns how it carries
    a task out; each order is its own robot's, and nothing is reset in it."""
    streams: list[Stream] = []
    with progress_bar() as bar:
        shown: Any = bar.add_task(name, total=len(tasks) * args.orders * args.epochs)
        for order in range(args.orders):
            epochs: list[list[StreamTask]] = []
            with robot_of() as carried_out:
                for _ in range(args.epochs):
                    epochs.append([])
                    for task in shuffled(tasks, args.seed, order):
                        epochs[-1].append(carried_out(task))
                        bar.advance(shown)
            streams.append(epochs)
    return streams


def operation_of(curated: Curated) -> str:
    """Return the operation that a lesson came to, as it was carried out."""
    return "" if curated.change is None else "ADD" if curated.change.added else "UPDATE"


def rows_of(name: str, streams: Sequence[Stream], about: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a row for each epoch. about: what all rows share."""
    return [
        {**about, "optimizer": name, "epoch": epoch + 1, **_row([stream[epoch] for stream in streams])}
        for epoch in range(len(streams[0]))
    ]


def _row(orders: Sequence[Sequence[StreamTask]]) -> dict[str, Any]:
    tasks = [task for order in orders for task in order]
    done = [task for task in tasks if not task.lost] or tasks
    rates = [statistics.fmean(task.success for task in order) for order in orders]
    operations = Counter(task.operation for task in tasks)
    return {
        "orders": len(orders),
        "tasks": len(orders[0]),
        "lost": sum(bool(task.lost) for task in tasks),
        "success_rate": mean_of(rates),
        "std_over_orders": round(statistics.stdev(rates), 4) if len(rates) > 1 else 0.0,
        "progress_rate": mean_of([task.progress for task in tasks]),
        "steps_mean": mean_of([task.steps for task in done], 2),
        "tokens_mean": mean_of([task.told_tokens for task in done], 1),
        "optimizer_tokens_mean": mean_of([task.optimizer_tokens for task in done], 1),
        "bank_size": mean_of([order[-1].bank for order in orders], 1),
        "add_share": share_of(operations["ADD"], len(tasks)),
        "update_share": share_of(operations["UPDATE"], len(tasks)),
        "cumulative_success": cumulative_success([[task.success for task in order] for order in orders]),
    }

"""What every benchmark does with its cases and figures: samples, orders, means, and rows for people or programs."""

from __future__ import annotations

import gzip
import json
import random
import statistics
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, TypeVar, cast

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.stats import binomtest

from memory_node.domain.errors import InvalidValueError, NotFoundError

Task = TypeVar("Task")


def shuffled(tasks: Sequence[Task], seed: int, order: int) -> list[Task]:
    """Return the tasks in the order of this number; every row of a benchmark has the same orders."""
    listed = list(tasks)
    random.Random(f"{seed} {order}").shuffle(listed)
    return listed


def mean_of(values: Sequence[float], digits: int = 4) -> float | None:
    """Return the rounded mean, None of no values."""
    return round(statistics.fmean(values), digits) if values else None


def median_of(values: Sequence[float], digits: int = 4) -> float | None:
    """Return the rounded median, None of no values."""
    return round(statistics.median(values), digits) if values else None


def share_of(part: float, whole: float) -> float | None:
    """Return part / whole, rounded; None where the whole is nothing."""
    return round(part / whole, 4) if whole else None


def interval_of(done: int, tries: int) -> tuple[float, float]:
    """Return the 95 % interval of a share by Wilson's score; of no tries (0, 1)."""
    if not tries:
        return 0.0, 1.0
    found = binomtest(done, tries).proportion_ci(method="wilson")
    return float(found.low), float(found.high)


def cumulative_success(orders: Sequence[Sequence[bool]]) -> list[float]:
    """Return the share of successes among the first n tasks, for n from 1 on, the mean over the orders."""
    shares = [np.cumsum(order) / np.arange(1, len(order) + 1) for order in orders if order]
    return [round(float(share), 4) for share in np.mean(shares, axis=0)] if shares else []


Case = TypeVar("Case")


def chosen(cases: Sequence[Case], ids: Collection[str], id_of: Callable[[Case], str]) -> Sequence[Case]:
    """Return the cases of some ids in their order; no ids: all.

    Raises:
        InvalidValueError: there is no case of an id.
    """
    if unknown := set(ids) - {id_of(case) for case in cases}:
        raise InvalidValueError(f"--only: there is no {', '.join(sorted(unknown))}")
    return [case for case in cases if not ids or id_of(case) in ids]


def sample(cases: Sequence[Case], limit: int, seed: int) -> Sequence[Case]:
    """Return some of the cases in order; limit 0: all."""
    if not limit or limit >= len(cases):
        return cases
    return [cases[index] for index in sorted(random.Random(seed).sample(range(len(cases)), limit))]


Row = Mapping[str, Any]
Made = TypeVar("Made")


def emit(rows: Iterable[Row], as_json: bool) -> None:
    """Print rows that share their keys: JSON lines on standard output, or a table."""
    if as_json:
        for row in rows:
            print(json.dumps(row), flush=True)
        return
    listed = list(rows)
    table = Table()
    for column in listed[0] if listed else ():
        table.add_column(column, justify="right" if isinstance(listed[0][column], int | float) else "left")
    for row in listed:
        table.add_row(*(_cell(value) for value in row.values()))
    # A table cut to a terminal's width would hide figures from a file or a pipe.
    Console(width=None if sys.stdout.isatty() else 220).print(table)


def _cell(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def open_text(path: str | Path) -> IO[str]:
    """Open a text file for reading, gzip-coded or not by its name.

    Raises:
        NotFoundError: there is no such file.
    """
    if not Path(path).is_file():
        raise NotFoundError(f"there is no file {path}")
    return cast("IO[str]", gzip.open(path, "rt")) if str(path).endswith(".gz") else open(path, encoding="utf-8")


def read_rows(path: Path, what: str, made: Callable[[dict[str, Any]], Made]) -> Iterator[Made]:
    """Yield what is made of each line of a file of JSON objects. what: what a line is, for the message.

    Raises:
        NotFoundError: there is no such file.
        InvalidValueError: nothing can be made of a line; the message names it.
    """
    with open_text(path) as file:
        for number, line in enumerate(file, 1):
            try:
                row = made(json.loads(line))
            except (LookupError, TypeError, ValueError) as error:
                raise InvalidValueError(f"{path}, line {number}: no {what}: {error!r}") from error
            yield row

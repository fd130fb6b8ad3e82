"""How every benchmark shows its figures: a table for people, one JSON object a line for programs."""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, TypeVar, cast

from rich.console import Console
from rich.table import Table

from memory_node.domain.errors import InvalidValueError, NotFoundError

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

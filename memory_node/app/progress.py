"""How long work shows how far it is."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

Part = TypeVar("Part")


def shown(parts: Iterable[Part], description: str, total: int | None = None) -> Iterator[Part]:
    """Yield the parts of long work while a progress bar is shown. total: how many, where the parts do not tell."""
    with progress_bar() as progress:
        yield from progress.track(parts, total, description=description)


def progress_bar() -> Progress:
    """Return a progress display on standard error; it is silent where that is no terminal.

    What is printed meanwhile stays above it on a terminal, and goes to a file or a pipe as always.
    """
    console = Console(stderr=True)
    console.quiet = not console.is_terminal  # rich 13.0 ends a disabled bar with an empty line
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=console, disable=not console.is_terminal, redirect_stdout=sys.stdout.isatty())

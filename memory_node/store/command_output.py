"""How `memory-node store ...` shows what it found or did."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from memory_node.store.check import Finding


def working(what: str) -> Progress:
    """Return a display on standard error that work goes on, and for how long; silent where that is no terminal."""
    console = Console(stderr=True)
    console.quiet = not console.is_terminal  # rich 13.0 ends a disabled display with an empty line
    display = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
        redirect_stdout=sys.stdout.isatty(),
    )
    display.add_task(what, total=None)
    return display


def show(args: argparse.Namespace, facts: dict[str, Any]) -> None:
    """Print facts by name, as a table or as JSON."""
    if args.json:
        print(json.dumps(facts, ensure_ascii=False))
        return
    table = Table(show_header=False)
    for name, value in facts.items():
        listed = value.items() if isinstance(value, dict) else None
        shown = "\n".join(f"{key}: {part}" for key, part in listed) if listed else value
        shown = "\n".join(map(str, value)) if isinstance(value, (list, tuple)) else shown
        table.add_row(name.replace("_", " "), str(shown))
    Console().print(table)


def show_findings(args: argparse.Namespace, findings: Sequence[Finding], repaired: dict[str, Any] | None = None) -> int:
    """Print what is wrong, after what was mended; return the exit status."""
    errors = sum(finding.severity == "error" for finding in findings)
    if args.json:
        verdict: dict[str, Any] = {"ok": not errors, "findings": [vars(finding) for finding in findings]}
        print(json.dumps(verdict if repaired is None else {**verdict, "repaired": repaired}))
        return 1 if errors else 0
    if repaired is not None:
        show(args, repaired)
    for finding in findings:
        print(f"{finding.severity}: {finding.what}\n    {finding.advice}")
    print(f"{errors} errors, {len(findings) - errors} warnings")
    return 1 if errors else 0

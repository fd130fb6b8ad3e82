"""What each memory is worth: success by setting and category, and whether a memory's removal costs its own category."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.life.day_form import CATEGORIES
from benchmarks.life.life_rows import EVERYTHING, name_of
from benchmarks.life.switches import COMPILER, LEAST_COST, OWN

Row = Mapping[str, Any]
Success = dict[tuple[str, str, str], dict[str, float]]
COLUMNS = (*CATEGORIES, EVERYTHING)


def success_of(rows: Iterable[Row]) -> Success:
    """Return the success rate by setting (planner, without, shuffled) and category."""
    found: Success = {}
    for row in rows:
        setting = (row["planner"], row["without"] or "", row["shuffled"] or "")
        found.setdefault(setting, {})[row["category"]] = row["success_rate"]
    return found


def effect_of(setting: tuple[str, str, str], success: Success) -> str:
    """Return what removing or shuffling a memory costs its own category, in words; "" where that was not done.

    Where it has two categories, the one that it costs most counts.
    """
    planner, without, shuffled = setting
    memory = without or shuffled
    base = success.get((planner, "", ""))
    if not memory or base is None:
        return ""
    own = (EVERYTHING,) if memory == COMPILER else OWN[memory]
    costs = {one: base[one] - success[setting][one] for one in own if one in base and one in success[setting]}
    if not costs:
        return "its own category was not played"
    category = max(costs, key=lambda one: costs[one])
    said = f"costs {costs[category]:+.2f} on {category}".replace("+-", "-")
    # Sums of shares such as 0.8 - 0.5 miss 0.3 by a rounding error.
    return said if costs[category] >= LEAST_COST - 1e-9 else f"{said}: without effect"


def print_matrix(rows: Sequence[Row]) -> None:
    """Print success by setting and category, and what each removal costs."""
    success = success_of(rows)
    table = Table()
    table.add_column("success_rate")
    columns = [one for one in COLUMNS if any(one in shares for shares in success.values())]
    for column in columns:
        table.add_column(column, justify="right")
    table.add_column("removed or shuffled")
    for setting, shares in success.items():
        cells = [f"{shares[one]:.2f}" if one in shares else "" for one in columns]
        table.add_row(name_of(setting), *cells, effect_of(setting, success))
    Console(width=None if sys.stdout.isatty() else 220).print(table)


def draw_matrix(rows: Sequence[Row], path: Path) -> None:
    """Draw the matrix as a heat map."""
    from matplotlib.figure import Figure

    success = success_of(rows)
    columns = [one for one in COLUMNS if any(one in shares for shares in success.values())]
    values = [[shares.get(one, float("nan")) for one in columns] for shares in success.values()]
    figure = Figure(figsize=(2.5 + 0.9 * len(columns), 1.5 + 0.45 * len(success)), layout="constrained")
    axes = figure.add_subplot()
    picture = axes.imshow(values, vmin=0.0, vmax=1.0, cmap="viridis", aspect="auto")
    axes.set_xticks(range(len(columns)), columns)
    axes.set_yticks(range(len(success)), [name_of(one) for one in success])
    for row, shares in enumerate(success.values()):
        for column, name in enumerate(columns):
            if name in shares:
                dark = shares[name] < 0.5
                axes.text(column, row, f"{shares[name]:.2f}", ha="center", va="center", color="w" if dark else "k")
    axes.set_title("Days of which every judged step is right")
    figure.colorbar(picture, ax=axes, label="share of days")
    figure.savefig(path, dpi=150)

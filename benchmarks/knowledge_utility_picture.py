"""Draws what memories are worth for their tokens: the curves over budgets, and what they did to answers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.memory_utility import Quadrant
from benchmarks.rows import Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw(rows: Sequence[Row], path: Path) -> None:
    """Draw the rows of utility_rows(): P over tokens by score and by likelihood, and the quadrants at the last budget.

    A filled mark is a memory's best performance, a ring its best efficiency.
    """
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(13, 4))
    for axis, p in zip(axes, ("score", "likelihood")):
        _draw_curves(axis, [row for row in rows if row["p"] == p])
        axis.set(title=f"by {p}", xlabel="tokens of memory", ylabel="P")
    axes[0].legend()
    last = max(row["budget"] for row in rows)
    held = [row for row in rows if row["p"] == "likelihood" and row["budget"] == last and row["tokens"]]
    _draw_quadrants(axes[2], held)
    axes[2].set(title=f"what {last} tokens did")
    figure.tight_layout()
    figure.savefig(path)
    plt.close(figure)


def _draw_curves(axis: Axes, rows: Sequence[Row]) -> None:
    """Draw each memory's P over its tokens, and as a line what there is without memory."""
    for number, memory in enumerate(dict.fromkeys(row["memory"] for row in rows)):
        curve = [row for row in rows if row["memory"] == memory and row["tokens"]]
        colour = f"C{number}"
        axis.plot([row["tokens"] for row in curve], [row["p_memory"] for row in curve], color=colour, label=memory)
        for row in curve:
            if "performance" in row["best"]:
                axis.plot(row["tokens"], row["p_memory"], "o", color=colour)
            if "efficiency" in row["best"]:
                axis.plot(row["tokens"], row["p_memory"], "o", color=colour, markersize=11, fillstyle="none")
    axis.axhline(rows[0]["p_base"], color="0.6", linestyle=":")


def _draw_quadrants(axis: Axes, rows: Sequence[Row]) -> None:
    """Stack, for each memory, the shares of what it did to answers."""
    below = [0.0] * len(rows)
    for quadrant in Quadrant:
        shares = [row[quadrant.value] for row in rows]
        axis.bar([row["memory"] for row in rows], shares, bottom=below, label=quadrant.value)
        below = [before + share for before, share in zip(below, shares)]
    axis.tick_params(axis="x", labelrotation=30)
    axis.legend()

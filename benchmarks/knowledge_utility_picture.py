"""Draws what memories are worth for their tokens: the curves over budgets, and what they did to answers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.memory_utility import Quadrant
from benchmarks.utility_row import UtilityRow

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw(rows: Sequence[UtilityRow], path: Path) -> None:
    """Draw the rows of utility_rows(): P over tokens by score and by likelihood, and the quadrants at the last budget.

    A filled mark is a memory's best performance, a ring its best efficiency.
    """
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(14, 4.5))
    for axis, p in zip(axes, ("score", "likelihood")):
        _draw_curves(axis, [row for row in rows if row.p == p])
        axis.set(title=f"by {p}", xlabel="tokens of memory", ylabel="P")
    last = max(row.budget for row in rows)
    held = [row for row in rows if row.p == "likelihood" and row.budget == last and row.tokens]
    _draw_quadrants(axes[2], held)
    axes[2].set(title=f"what {last} tokens did")
    # Beside the curves and bars, which fill their axes.
    figure.legend(*axes[0].get_legend_handles_labels(), loc="lower center", bbox_to_anchor=(0.33, 0.0), ncol=6)
    axes[2].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    figure.tight_layout(rect=(0.0, 0.08, 1.0, 1.0))
    figure.savefig(path)
    plt.close(figure)


def _draw_curves(axis: Axes, rows: Sequence[UtilityRow]) -> None:
    """Draw each memory's P over its tokens, and as a line what there is without memory."""
    for number, memory in enumerate(dict.fromkeys(row.memory for row in rows)):
        curve = [(row.tokens, row.p_memory or 0.0, row.best) for row in rows if row.memory == memory and row.tokens]
        colour = f"C{number}"
        if curve:
            axis.plot([tokens for tokens, _, _ in curve], [p for _, p, _ in curve], color=colour, label=memory)
        for tokens, p, best in curve:
            if "performance" in best:
                axis.plot(tokens, p, "o", color=colour)
            if "efficiency" in best:
                axis.plot(tokens, p, "o", color=colour, markersize=11, fillstyle="none")
    axis.axhline(rows[0].p_base or 0.0, color="0.6", linestyle=":", label="no-memory")


def _draw_quadrants(axis: Axes, rows: Sequence[UtilityRow]) -> None:
    """Stack, for each memory, the shares of what it did to answers."""
    below = [0.0] * len(rows)
    for quadrant in Quadrant:
        shares = [getattr(row, quadrant.value) for row in rows]
        axis.bar([row.memory for row in rows], shares, bottom=below, label=quadrant.value)
        below = [before + share for before, share in zip(below, shares)]
    axis.tick_params(axis="x", labelrotation=30)
    axis.set_ylim(0.0, 1.0)

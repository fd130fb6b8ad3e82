"""Draws what memories are worth for their tokens: the curves over budgets, and what they did to answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.memory_utility import Quadrant


def draw(rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Draw the rows of utility_rows(): P over tokens by score and by likelihood, and the quadrants at the last budget.

    A filled mark is a memory's best performance, a ring its best efficiency.
    """
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(13, 4))
    memories = list(dict.fromkeys(row["memory"] for row in rows))
    for axis, p in zip(axes, ("score", "likelihood")):
        for number, memory in enumerate(memories):
            curve = [row for row in rows if row["memory"] == memory and row["p"] == p and row["tokens"]]
            colour = f"C{number}"
            axis.plot([row["tokens"] for row in curve], [row["p_memory"] for row in curve], color=colour, label=memory)
            for row in curve:
                if "performance" in row["best"]:
                    axis.plot(row["tokens"], row["p_memory"], "o", color=colour)
                if "efficiency" in row["best"]:
                    axis.plot(row["tokens"], row["p_memory"], "o", color=colour, markersize=11, fillstyle="none")
        axis.axhline(next(row["p_base"] for row in rows if row["p"] == p), color="0.6", linestyle=":")
        axis.set(title=f"by {p}", xlabel="tokens of memory", ylabel="P")
    axes[0].legend()
    last = max(row["budget"] for row in rows)
    held = [row for row in rows if row["p"] == "likelihood" and row["budget"] == last and row["tokens"]]
    below = [0.0] * len(held)
    for quadrant in Quadrant:
        shares = [row[quadrant.value] for row in held]
        axes[2].bar([row["memory"] for row in held], shares, bottom=below, label=quadrant.value)
        below = [before + share for before, share in zip(below, shares)]
    axes[2].tick_params(axis="x", labelrotation=30)
    axes[2].set(title=f"what {last} tokens did")
    axes[2].legend()
    figure.tight_layout()
    figure.savefig(path)
    plt.close(figure)

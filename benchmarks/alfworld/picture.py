"""Success and steps over the stream of games."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

from benchmarks.alfworld.figures import cumulative
from benchmarks.alfworld.play import PlayedGame

_WINDOW = 10  # games that the drawn steps are a mean of


def draw_stream(orders: Sequence[Sequence[PlayedGame]], path: Path) -> None:
    """Write a PNG: the share of games won so far, and the commands of a game, as means over the orders."""
    figure, (above, below) = plt.subplots(2, 1, figsize=(8.0, 7.0), sharex=True)
    shares = cumulative(orders)
    above.plot(range(1, len(shares) + 1), shares, color="#2a6f97")
    above.set_ylim(0.0, 1.02)
    above.set_ylabel("games won so far (share)")
    steps = np.mean([[game.steps for game in order] for order in orders], axis=0)
    below.plot(range(1, len(steps) + 1), steps, color="#c9c9c9", linewidth=0.8)
    width = min(_WINDOW, len(steps))
    smooth = np.convolve(steps, np.ones(width) / width, mode="valid")
    below.plot(np.arange(width, len(steps) + 1), smooth, color="#bc4b51", label=f"mean of {width} games")
    below.set_ylabel("commands in a game")
    below.set_xlabel("games played")
    below.legend()
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    plt.close(figure)

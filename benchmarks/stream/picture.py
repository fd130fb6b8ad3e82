"""Cumulative success and the size of the bank over a stream, a line for each optimizer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

from benchmarks.stream.outcomes import Stream, cumulative


def draw_streams(rows: Mapping[str, Sequence[Stream]], path: Path) -> None:
    """Write a PNG: the share of successes so far and the entries of the bank, as means over the orders."""
    figure, (above, below) = plt.subplots(2, 1, figsize=(8.0, 7.0), sharex=True)
    for name, streams in rows.items():
        whole = [[task for epoch in stream for task in epoch] for stream in streams]
        shares = cumulative(whole)
        numbers = range(1, len(shares) + 1)
        above.plot(numbers, shares, label=name)
        below.plot(numbers, np.mean([[task.bank for task in order] for order in whole], axis=0), label=name)
    above.set_ylim(0.0, 1.02)
    above.set_ylabel("tasks done so far (share)")
    above.legend()
    below.set_ylabel("entries of the bank")
    below.set_xlabel("tasks carried out")
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    plt.close(figure)

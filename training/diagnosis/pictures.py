"""The two pictures: attention on memory by step, and the states of latent tokens beside those of text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from sklearn.manifold import TSNE

# Neighbours that t-SNE weighs; fewer where there are few states.
_PERPLEXITY = 30.0


def draw_attention(logits: Mapping[str, Mapping[int, Sequence[float]]], path: Path) -> None:
    """Draw the mean logit on memory's tokens by step. logits: of each row, by step, those of all games."""
    figure = Figure(figsize=(6.0, 3.6), layout="constrained")
    axes = figure.add_subplot()
    for row, by_step in logits.items():
        steps = sorted(by_step)
        axes.plot(steps, [float(np.mean(by_step[step])) for step in steps], marker=".", label=row)
    axes.set(xlabel="step", ylabel="mean attention logit on memory")
    axes.axhline(0.0, color="0.8", linewidth=0.8)
    axes.legend()
    figure.savefig(path, dpi=120)


def draw_states(groups: Mapping[str, NDArray[np.float32]], seed: int, path: Path) -> None:
    """Draw states (n, width) of some groups in the plane, by t-SNE (van der Maaten and Hinton 2008)."""
    states = np.concatenate(list(groups.values()))
    perplexity = min(_PERPLEXITY, (len(states) - 1) / 3.0)
    places = TSNE(2, perplexity=perplexity, init="pca", random_state=seed).fit_transform(states)
    figure = Figure(figsize=(4.6, 4.2), layout="constrained")
    axes = figure.add_subplot()
    start = 0
    for name, group in groups.items():
        part = places[start : start + len(group)]
        axes.scatter(part[:, 0], part[:, 1], s=9, label=name)
        start += len(group)
    axes.set(xticks=[], yticks=[])
    axes.legend()
    figure.savefig(path, dpi=120)

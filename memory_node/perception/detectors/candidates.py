"""What every layout of outputs is brought to: boxes, scores by class, and masks of those that are kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Candidates:
    """n boxes. corners: (n, 4) left, top, right, bottom in pixels of the model's input. scores: (n, classes) in [0, 1].

    masks: returns for box numbers (k,) values (k, mh, mw) over the whole input, positive inside; None: no masks.
    repeated: one thing has several boxes, the weaker of which must go.
    """

    corners: FloatArray
    scores: FloatArray
    repeated: bool = True
    masks: Callable[[NDArray[np.intp]], FloatArray] | None = None


def corners_of(centers: FloatArray) -> FloatArray:
    """Return left, top, right, bottom of centres and sizes (n, 4)."""
    half = 0.5 * centers[:, 2:4]
    return np.concatenate([centers[:, :2] - half, centers[:, :2] + half], axis=1)


def sigmoid(values: FloatArray) -> FloatArray:
    """Return 1 / (1 + exp(-values)), without overflow."""
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * values)), dtype=np.float32)


def scores_of_labels(labels: NDArray[np.integer], scores: FloatArray, classes: int) -> FloatArray:
    """Return scores (n, classes) of boxes that have one label (n,) and one score (n,) each; labels outside score 0."""
    dense = np.zeros((len(labels), classes), np.float32)
    known = (labels >= 0) & (labels < classes)
    dense[np.flatnonzero(known), labels[known]] = scores[known]
    return dense

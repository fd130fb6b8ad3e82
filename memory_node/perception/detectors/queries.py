"""Outputs of the DETR family: one row a query (DETR, RT-DETR, D-FINE, DEIM, RF-DETR, OWLv2, Grounding DINO)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memory_node.perception.detectors.candidates import Candidates, FloatArray, corners_of, scores_of_labels, sigmoid


def decode_queries(
    boxes: FloatArray,
    logits: FloatArray,
    columns: NDArray[np.intp],
    size: tuple[int, int],
    softmax: bool,
    masks: FloatArray | None = None,
) -> Candidates:
    """Boxes (n, 4): centre and size as parts of the input; logits (n, c); columns: of the named classes.

    softmax: over the classes and "nothing", which is the last column; else each class for itself. masks: logits (n, mh,
    mw) over the whole input.
    """
    if softmax:
        odds = np.exp(logits - logits.max(axis=1, keepdims=True))
        scores = (odds / odds.sum(axis=1, keepdims=True))[:, columns]
    else:
        scores = sigmoid(logits[:, columns])
    sides = np.array([size[1], size[0], size[1], size[0]], np.float32)
    chosen = None if masks is None else lambda which: masks[which]
    return Candidates(corners_of(boxes) * sides, np.asarray(scores, np.float32), repeated=False, masks=chosen)


def decode_listed(
    boxes: FloatArray,
    numbers: NDArray[np.integer],
    scores: FloatArray,
    name_of_number: NDArray[np.intp],
    masks: FloatArray | None = None,
) -> Candidates:
    """Boxes (n, 4) as corners in pixels of the input, one class number and one score each, as a model lists them that
    has chosen itself; name_of_number: index of the name of each number, -1 for none. masks: probabilities (n, h, w)."""
    known = (numbers >= 0) & (numbers < len(name_of_number))
    labels = np.where(known, name_of_number[np.where(known, numbers, 0)], -1)
    chosen = None if masks is None else lambda which: masks[which] - np.float32(0.5)
    dense = scores_of_labels(labels, scores, int(name_of_number.max()) + 1)
    return Candidates(boxes, dense, repeated=False, masks=chosen)

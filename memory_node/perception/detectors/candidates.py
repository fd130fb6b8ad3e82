"""What every layout of outputs is brought to: boxes, scores by class, masks; and how outputs of YOLO come to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.errors import InvalidValueError

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


_STRIDES = (8, 16, 32)


def cells(size: tuple[int, int], strides: tuple[int, ...] = _STRIDES) -> int:
    """Return of how many cells the grids of an input of a size (height, width) consist."""
    return sum((size[0] // stride) * (size[1] // stride) for stride in strides)


def decode_v5(rows: FloatArray, classes: int, prototypes: FloatArray | None = None) -> Candidates:
    """Rows (n, 5 + classes [+ k]): centre, size, whether there is a thing, classes, and k factors of the prototype
    masks (k, mh, mw), whose probabilities are scaled to the image; later versions scale what they are made of."""
    scores = rows[:, 4:5] * rows[:, 5 : 5 + classes]
    masks = _masks(rows[:, 5 + classes :], prototypes)
    probable = None if masks is None else lambda which: sigmoid(masks(which)) - np.float32(0.5)
    return Candidates(corners_of(rows), scores, masks=probable)


def decode_v8(
    rows: FloatArray,
    classes: int,
    prototypes: FloatArray | None = None,
    corners: bool = False,
    repeated: bool = True,
) -> Candidates:
    """Rows (n, 4 + classes [+ k]): centre and size, or corners, of the box, classes, and k factors of masks."""
    boxes = rows[:, :4] if corners else corners_of(rows)
    return Candidates(boxes, rows[:, 4 : 4 + classes], repeated, _masks(rows[:, 4 + classes :], prototypes))


def decode_yolox(rows: FloatArray, classes: int, size: tuple[int, int]) -> Candidates:
    """Rows (n, 5 + classes) of a model that was exported without decoding: offsets in each grid's cell, logarithms of
    sizes in cells (Ge et al. 2021)."""
    origin, stride = _grid(size)
    if len(rows) != len(origin):
        raise InvalidValueError(f"expected {len(origin)} cells of an input of {size[1]}x{size[0]}, got {len(rows)}")
    with np.errstate(over="ignore"):
        boxes = np.concatenate([(rows[:, :2] + origin) * stride, np.exp(rows[:, 2:4]) * stride], axis=1)
    return Candidates(corners_of(boxes), rows[:, 4:5] * rows[:, 5 : 5 + classes])


def yolox_is_decoded(rows: FloatArray, size: tuple[int, int]) -> bool:
    """Return whether rows (n, 5 + classes) of any image are decoded already: their boxes follow the cells over the
    image then, where offsets in a cell do not."""
    origin, stride = _grid(size)
    places = origin * stride
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        follows = [np.corrcoef(rows[:, axis], places[:, axis])[0, 1] for axis in (0, 1)]
    return bool(min(follows) > 0.5)  # of equal offsets there is none: not a number is not larger


def boxes_are_corners(rows: FloatArray) -> bool:
    """Return whether the boxes of rows (n, 4 + classes) are corners: of centres and sizes many have a size below the
    centre's place."""
    return bool((rows[:, 2:4] >= rows[:, :2]).all(axis=1).mean() > 0.999)


def decode_end_to_end(rows: FloatArray, classes: int, prototypes: FloatArray | None = None) -> Candidates:
    """Rows (n, 6 [+ k]) of a model that has chosen itself: corners, score, class number, and k factors of masks."""
    scores = scores_of_labels(np.rint(rows[:, 5]).astype(np.intp), rows[:, 4], classes)
    return Candidates(rows[:, :4], scores, repeated=False, masks=_masks(rows[:, 6:], prototypes))


def _grid(size: tuple[int, int]) -> tuple[FloatArray, FloatArray]:
    """Return the upper left corner (n, 2) of each cell in cells, x before y, and its side (n, 1) in pixels."""
    origins, strides = [], []
    for stride in _STRIDES:
        down, across = np.indices((size[0] // stride, size[1] // stride), dtype=np.float32)
        origins.append(np.stack([across.ravel(), down.ravel()], axis=1))
        strides.append(np.full((down.size, 1), stride, np.float32))
    return np.concatenate(origins), np.concatenate(strides)


def _masks(factors: FloatArray, prototypes: FloatArray | None) -> Callable[[NDArray[np.intp]], FloatArray] | None:
    if prototypes is None or not factors.shape[1]:
        return None

    def masks(which: NDArray[np.intp]) -> FloatArray:
        return np.asarray(np.tensordot(factors[which], prototypes, axes=1), dtype=np.float32)

    return masks

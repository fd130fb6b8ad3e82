"""Instance images: every pixel holds the number of the instance that it belongs to, 0 for none."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.errors import InputSkippedError
from memory_node.perception.raw_image import Buffer, image_rows

LabelArray = NDArray[np.int32]
_ENCODINGS = {"mono8": "u1", "8UC1": "u1", "mono16": "u2", "16UC1": "u2", "16SC1": "i2", "32SC1": "i4"}


def decode_labels(
    data: Buffer, encoding: str, height: int, width: int, step: int, big_endian: bool = False
) -> LabelArray:
    """Return the instance numbers (height, width) as int32; negative ones, which some detectors use for none, as 0.

    Raises:
        InputSkippedError: another encoding ("label_encoding") or sizes that do not fit ("label_size").
    """
    if encoding not in _ENCODINGS:
        raise InputSkippedError("label_encoding", f"expected {', '.join(_ENCODINGS)}, got {encoding[:40]!r}")
    dtype = np.dtype((">" if big_endian else "<") + _ENCODINGS[encoding])
    labels = image_rows(data, height, width, step, dtype, 1, "label_size")[:, :, 0].astype(np.int32)
    return np.asarray(np.maximum(labels, 0), dtype=np.int32)


def labels_from_masks(masks: Sequence[NDArray[np.bool_]], shape: tuple[int, int]) -> LabelArray:
    """Paint masks (height, width) into one instance image: mask i becomes number i + 1.

    Where masks overlap the smaller one wins: it is the nearer or more particular thing (a mug on a tray).

    Raises:
        InputSkippedError: a mask of another shape ("mask_size").
    """
    labels = np.zeros(shape, np.int32)
    for index in sorted(range(len(masks)), key=lambda i: -int(np.count_nonzero(masks[i]))):
        if masks[index].shape != shape:
            raise InputSkippedError("mask_size", f"expected {shape}, got {masks[index].shape}")
        np.copyto(labels, index + 1, where=masks[index])
    return labels

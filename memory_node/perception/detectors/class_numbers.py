"""Maps a model's class numbers to names: exports count with or without a background, and COCO's numbers have gaps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.errors import InvalidValueError

# COCO numbers its 80 classes from 1 to 90; these are not used.
_COCO_UNUSED = (12, 26, 29, 30, 45, 66, 68, 69, 71, 83)
_COCO_NUMBERS = [number for number in range(1, 91) if number not in _COCO_UNUSED]
_BACKGROUND = ("background", "__background__", "bg", "n/a")


def columns_of_names(columns: int, names: Sequence[str], what: str) -> NDArray[np.intp]:
    """Return for each name the column of a model's scores that is its class.

    columns: of the scores, without a column for "nothing". Known: as many columns as names; COCO's numbers 0 to 90 for
    its 80 names; one column more than names, the last of which is unused (RF-DETR).

    Raises:
        InvalidValueError: other numbers; what: names the model.
    """
    if columns == len(names):
        return np.arange(columns)
    if columns in (90, 91) and len(names) == len(_COCO_NUMBERS):
        return np.array(_COCO_NUMBERS) - (91 - columns)
    if columns == len(names) + 1:
        return np.arange(len(names))
    raise InvalidValueError(f"{what}: the model tells {columns} classes apart, and {len(names)} class names are given")


def names_of_numbers(names: Sequence[str], from_one: bool) -> NDArray[np.intp]:
    """Return for each class number of a model that tells numbers, from 0 on, the index of its name, -1 for none.

    from_one: number 0 is the background, as in torchvision. Names that themselves begin with a background, or that are
    COCO's 91, are taken number by number.
    """
    counted = not from_one or names[0].lower() in _BACKGROUND or len(names) == 91
    if counted:
        return np.arange(len(names))
    table = np.full(91 if len(names) == len(_COCO_NUMBERS) else len(names) + 1, -1)
    table[_COCO_NUMBERS if len(names) == len(_COCO_NUMBERS) else np.arange(1, len(names) + 1)] = np.arange(len(names))
    return table

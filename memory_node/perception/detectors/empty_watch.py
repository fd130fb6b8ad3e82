"""Notices a detector that never finds anything, and says what may be wrong with it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_IMAGES = 200
# Grey values of an image of something vary by more than this; of a covered lens by less.
_CONTRAST = 8.0


class EmptyWatch:
    """Counts images that show something in which nothing was found, in a row."""

    def __init__(self, what: str, min_score: float) -> None:
        self._what = what
        self._min_score = min_score
        self._empty = 0
        self._best = 0.0

    def note(self, color: NDArray[np.uint8], found: int, best: float) -> None:
        """Take in an RGB image (h, w, 3), how many things were found in it, and the best score of any box."""
        if found:
            self._empty, self._best = 0, 0.0
        elif float(color[::16, ::16].std()) > _CONTRAST:
            self._empty += 1
            self._best = max(self._best, best)

    @property
    def complaint(self) -> str:
        """What is wrong, "" while nothing seems to be."""
        if self._empty < _IMAGES:
            return ""
        if self._best < 0.5 * self._min_score:
            guess = (
                "no box came near: its images are probably prepared otherwise; compare scale, channel order and fit "
                "with the model's own, and set them in a YAML file beside it"
            )
        else:
            guess = "boxes come near: lower min_score, or check that the classes are those of this place"
        return (
            f"{self._what} found nothing in {self._empty} images in a row; best score {self._best:.3f}, "
            f"min_score {self._min_score:g}; {guess}"
        )

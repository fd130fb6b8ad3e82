"""Vectors by row, all of which are compared with a request."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.int64]
Vectors = NDArray[np.float32]


class VectorTable:
    """Unit vectors (dimension,) by row number; rows are small numbers that the caller gives and uses again.

    One writer at a time; readers need no lock: the array is replaced whole when it grows.
    """

    def __init__(self, dimension: int) -> None:
        self._vectors = np.zeros((64, dimension), dtype=np.float32)

    def put(self, row: int, vector: Vectors) -> None:
        """Take over the vector of a row in place of the one that it has."""
        if row >= len(self._vectors):
            more = max(row + 1, 2 * len(self._vectors)) - len(self._vectors)
            self._vectors = np.concatenate([self._vectors, np.zeros((more, self._vectors.shape[1]), np.float32)])
        self._vectors[row] = vector

    def cosines(self, vector: Vectors) -> Vectors:
        """Return the cosine with every row (n,), 0 where there is no vector."""
        return np.asarray(self._vectors @ vector)

    def cosines_of(self, rows: Rows, vector: Vectors) -> Vectors:
        """Return the cosine with each of these rows (n,), 0 where there is no vector."""
        vectors = self._vectors
        cosines: Vectors = vectors.take(rows, axis=0, mode="clip") @ vector
        return np.where(rows < len(vectors), cosines, np.float32(0.0))

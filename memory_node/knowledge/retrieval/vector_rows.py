"""The vectors of propositions by row, and who is nearest."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.int64]
Vectors = NDArray[np.float32]


class NearestVectors(Protocol):
    """An index over unit vectors by row; `search.vector_index.VectorIndex` is one."""

    def add(self, rows: Rows, vectors: Vectors, threads: int = 1) -> None:
        """Take over vectors (n, dimension)."""

    def remove(self, row: int) -> bool:
        """Take a row's vector out."""

    def search(self, vector: Vectors, k: int) -> tuple[Rows, Vectors]:
        """Return up to k rows with their cosines, best first."""


class ExactNearest:
    """Compares every vector; for some ten thousand of them."""

    def __init__(self, dimension: int) -> None:
        self._dimension = dimension
        self._vectors = np.zeros((256, dimension), dtype=np.float32)
        self._present = np.zeros(256, dtype=np.bool_)

    def add(self, rows: Rows, vectors: Vectors, threads: int = 1) -> None:
        """Take over vectors (n, dimension)."""
        highest = int(rows.max(initial=-1)) + 1
        if highest > len(self._present):
            more = max(highest, 2 * len(self._present)) - len(self._present)
            self._vectors = np.concatenate([self._vectors, np.zeros((more, self._dimension), dtype=np.float32)])
            self._present = np.concatenate([self._present, np.zeros(more, dtype=np.bool_)])
        self._vectors[rows] = vectors
        self._present[rows] = True

    def remove(self, row: int) -> bool:
        """Take a row's vector out; return whether there was one."""
        there = row < len(self._present) and bool(self._present[row])
        if there:
            self._present[row] = False
        return there

    def search(self, vector: Vectors, k: int) -> tuple[Rows, Vectors]:
        """Return up to k rows with their cosines, best first."""
        rows = np.flatnonzero(self._present)
        cosines = (self._vectors @ vector)[rows]
        order = np.argsort(-cosines, kind="stable")[:k]
        return rows[order], cosines[order]


class VectorRows:
    """Keeps the vectors (float16) themselves and an index over them.

    A row without a vector yet, as after a start until they are computed, has zeros and is not found by likeness.
    """

    def __init__(self, dimension: int, nearest: NearestVectors) -> None:
        self._dimension = dimension
        self._nearest = nearest
        self._kept = np.zeros((256, dimension), dtype=np.float16)

    def put(self, rows: Rows, vectors: Vectors) -> None:
        """Take over unit vectors (n, dimension) for rows."""
        highest = int(rows.max(initial=-1)) + 1
        if highest > len(self._kept):
            more = max(highest, 2 * len(self._kept)) - len(self._kept)
            self._kept = np.concatenate([self._kept, np.zeros((more, self._dimension), dtype=np.float16)])
        self._kept[rows] = vectors
        self._nearest.add(rows, vectors)

    def remove(self, row: int) -> None:
        """Take a row's vector out."""
        self._nearest.remove(row)
        if row < len(self._kept):
            self._kept[row] = 0.0

    def of(self, rows: Rows) -> Vectors:
        """Return (n, dimension) vectors."""
        inside = np.minimum(rows, len(self._kept) - 1)
        return np.where((rows < len(self._kept))[:, None], self._kept[inside], np.float16(0.0)).astype(np.float32)

    def search(self, vector: Vectors, k: int) -> tuple[Rows, Vectors]:
        """Return up to k rows with their cosines, best first."""
        return self._nearest.search(vector, k)

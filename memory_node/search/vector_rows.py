"""The vectors of propositions by row, and which are nearest to one: by sketches of signs, then exactly. Why it is no
HNSW graph: docs/dependencies.md, the indexes of propositions."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.int64]
Vectors = NDArray[np.float32]

Sketches = NDArray[np.uint64]

# Rows with the nearest sketches, whose vectors are compared. Up to this number of rows a search is exact.
COMPARED = 2048
# Of more rows than this, the first words of the sketches choose about so many, whose whole sketches are compared.
LOOKED_AT = 65_536
_FIRST_WORDS = 2
_WORD_BITS = 64
_LARGEST = 127


class VectorRows:
    """Keeps unit vectors by row, and finds the nearest of them. One writer at a time; `of` and `cosines` need no lock.

    A component is kept in one byte, as a share of its vector's largest one; cosines are right to about 0.002.

    A sketch is one bit for the sign of each component (Charikar 2002): the share of bits in which two differ
    grows with the angle between their vectors. A row without a vector yet, as after a start until they are computed,
    has zeros and is not found by likeness.
    """

    def __init__(self, dimension: int) -> None:
        self._dimension = dimension
        self._words = -(-dimension // _WORD_BITS)
        self._kept = np.zeros((256, dimension), dtype=np.int8)
        self._scales = np.zeros(256, dtype=np.float32)
        self._sketches = np.zeros((self._words, 256), dtype=np.uint64)  # word by word: a search reads whole words
        self._present = np.zeros(256, dtype=np.bool_)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def put(self, rows: Rows, vectors: Vectors) -> None:
        """Take over unit vectors (n, dimension) for n different rows; a row that has one gets the new one."""
        self._grow(int(rows.max(initial=-1)) + 1)
        self._count += len(rows) - int(self._present[rows].sum())
        self._scales[rows] = scales = np.abs(vectors).max(axis=1) / _LARGEST
        self._kept[rows] = np.rint(vectors / np.maximum(scales, 1e-9)[:, None])
        self._sketches[:, rows] = self._sketched(vectors)
        self._present[rows] = True

    def remove(self, row: int) -> None:
        """Take a row's vector out; nothing where there is none."""
        if row >= len(self._present) or not self._present[row]:
            return
        self._present[row] = False
        self._kept[row] = 0
        self._count -= 1

    def are_present(self, rows: Rows) -> NDArray[np.bool_]:
        """Return (n,) whether rows have vectors; False for one that is negative."""
        inside = (rows >= 0) & (rows < len(self._present))
        return np.asarray(inside & self._present[np.where(inside, rows, 0)])

    def of(self, rows: Rows) -> Vectors:
        """Return (n, dimension) vectors."""
        vectors = np.take(self._kept, rows, axis=0, mode="clip").astype(np.float32)
        vectors *= np.where(rows < len(self._scales), np.take(self._scales, rows, mode="clip"), 0.0)[:, None]
        return vectors

    def cosines(self, vector: Vectors) -> Vectors:
        """Return the cosine of a vector with every row (n,), 0 where there is none."""
        scales = self._scales  # first: it is the last to grow
        return np.asarray((self._kept[: len(scales)].astype(np.float32) @ vector) * scales)

    def search(self, vector: Vectors, k: int) -> tuple[Rows, Vectors]:
        """Return up to k rows with their cosines, best first."""
        sketch = self._sketched(vector[None, :])[:, 0]
        if self._count <= LOOKED_AT:
            rows = np.flatnonzero(self._present)
        else:
            distances = self._distances(slice(None), sketch[:_FIRST_WORDS])
            distances[~self._present] = _WORD_BITS * self._words
            rows = _least(distances, LOOKED_AT)
        if len(rows) > COMPARED:
            rows = rows[_least(self._distances(rows, sketch), COMPARED)]
        cosines = (np.take(self._kept, rows, axis=0).astype(np.float32) @ vector) * self._scales[rows]
        if k < len(rows):
            best = np.argpartition(-cosines, k)[:k]
            rows, cosines = rows[best], cosines[best]
        order = np.argsort(-cosines, kind="stable")
        return rows[order], cosines[order]

    def _distances(self, rows: Rows | slice, sketch: Sketches) -> NDArray[np.uint16]:
        """Return (n,) in how many bits the sketches of rows differ from the first words of one (words,)."""
        counts = [ones_in(kept[rows] ^ asked) for kept, asked in zip(self._sketches, sketch)]
        return np.asarray(np.sum(counts, axis=0, dtype=np.uint16))

    def _sketched(self, vectors: Vectors) -> Sketches:
        """Return the sketches (words, n) of vectors (n, dimension)."""
        bits = np.zeros((len(vectors), self._words * _WORD_BITS), dtype=np.bool_)
        bits[:, : self._dimension] = vectors > 0.0
        return np.packbits(bits, axis=1).view(np.uint64).T

    def _grow(self, rows: int) -> None:
        if rows <= len(self._present):
            return
        larger = max(rows, 2 * len(self._present))
        self._kept = _resized(self._kept, larger)
        self._sketches = np.ascontiguousarray(_resized(self._sketches.T, larger).T)
        self._present = _resized(self._present, larger)
        self._scales = _resized(self._scales, larger)


def ones_in(words: Sketches) -> NDArray[np.uint8]:
    """Return how many bits of each word (n,) are set (n,)."""
    if hasattr(np, "bitwise_count"):
        return np.asarray(np.bitwise_count(words))
    counts = _ones_of_16_bits().take(words.view(np.uint16))  # numpy before 2.0
    return np.asarray(counts.reshape(len(words), -1).sum(axis=1, dtype=np.uint8))


def _least(distances: NDArray[np.uint16], count: int) -> Rows:
    """Return where the least distances are, about so many."""
    radius = int(np.searchsorted(np.cumsum(np.bincount(distances)), count))
    return np.flatnonzero(distances <= radius)[: 2 * count]


@lru_cache(maxsize=1)
def _ones_of_16_bits() -> NDArray[np.uint8]:
    numbers = np.arange(1 << 16, dtype=np.uint16).view(np.uint8).reshape(-1, 2)
    return np.unpackbits(numbers, axis=1).sum(axis=1, dtype=np.uint8)


def _resized(array: NDArray, rows: int) -> NDArray:  # type: ignore[type-arg]
    larger = np.zeros((rows, *array.shape[1:]), dtype=array.dtype)
    larger[: len(array)] = array[:rows]
    return larger

"""Nearest neighbours by cosine: exact while that is faster, an HNSW graph (usearch) above."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.errors import InvalidValueError

Rows = NDArray[np.int64]
Vectors = NDArray[np.float32]

# Rows that each change adds to the next graph, so that it is complete before it is needed and no request waits for it.
_MOVED_BY_EACH_CHANGE = 3
# A key of the graph is a row and how many additions came before. What leaves stays in the graph and is passed over
# until the next graph is made without it: the first search after a removal takes usearch time in proportion to its
# vectors, 30 ms among 600,000.
_ROW_BITS = 32
_ROW_MASK = (1 << _ROW_BITS) - 1
_MOST_STALE = 0.5  # of the vectors that are there


@dataclass(frozen=True)
class GraphSettings:
    """The HNSW graph (Malkov and Yashunin 2018): what `bench recall` measured to keep recall above 0.98.

    connectivity: links a node; expansion_add, expansion_search: candidates looked at; dtype: how vectors are kept.
    """

    connectivity: int = 24
    expansion_add: int = 128
    expansion_search: int = 96
    dtype: str = "f16"


@dataclass(frozen=True)
class _Matrix:
    """Every vector by row (n, d), and which rows hold one (n,); replaced whole when it grows."""

    vectors: Vectors
    present: NDArray[np.bool_]

    @classmethod
    def of_rows(cls, rows: int, dimension: int) -> _Matrix:
        return cls(np.zeros((rows, dimension), dtype=np.float32), np.zeros(rows, dtype=np.bool_))

    def grown(self, rows: int) -> _Matrix:
        larger = _Matrix.of_rows(max(rows, 2 * len(self.present)), self.vectors.shape[1])
        larger.vectors[: len(self.present)] = self.vectors
        larger.present[: len(self.present)] = self.present
        return larger


class VectorIndex:
    """Unit vectors (dimension,) by row number; rows are small numbers that the caller gives and uses again.

    exact_below: up to so many vectors every one is compared; from there on a graph is searched, for good. Writers wait
    for each other, readers for nobody: arrays are replaced whole when they grow, the graph takes additions beside
    searches, and before it is searched it is filled little by little. A reader beside a writer may see the row that is
    being written half old and half new.
    """

    def __init__(self, dimension: int, exact_below: int = 12_000, settings: GraphSettings | None = None) -> None:
        self._dimension = dimension
        self._exact_below = exact_below
        self._settings = settings or GraphSettings()
        self._matrix: _Matrix | None = _Matrix.of_rows(64, dimension)
        self._graph: Any = None
        self._next_graph: Any = None
        self._left_out: dict[int, None] = {}
        self._keys = np.full(64, -1, dtype=np.int64)
        self._additions = 0
        self._count = self._stale = self._next_stale = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return self._count

    @property
    def is_exact(self) -> bool:
        """Whether every vector is compared."""
        return self._matrix is not None

    def add(self, rows: Rows, vectors: Vectors, threads: int = 1) -> None:
        """Take over vectors (n, dimension) for n different rows; a row that has one already gets the new one.

        Raises:
            InvalidValueError: the shape is another one.
        """
        vectors = np.asarray(vectors, dtype=np.float32)
        if vectors.shape != (len(rows), self._dimension):
            raise InvalidValueError(f"VectorIndex: expected {(len(rows), self._dimension)}, got {vectors.shape}")
        with self._lock:
            for row in rows.tolist():
                self._drop(row)
            self._count += len(rows)
            if self._matrix is not None:
                self._put(self._matrix, rows, vectors)
            else:
                self._graph.add(self._new_keys(rows), vectors, threads=threads)
            self._fill_next_graph(rows, threads)

    def remove(self, row: int) -> bool:
        """Take a row's vector out; return whether there was one."""
        with self._lock:
            dropped = self._drop(row)
            self._fill_next_graph(np.empty(0, dtype=np.int64), threads=1)
            return dropped

    def cosines(self, vector: Vectors) -> Vectors | None:
        """Return the cosine with every row (n,), 0 where there is none; None when a graph is searched instead."""
        matrix = self._matrix
        return None if matrix is None else matrix.vectors @ vector

    def search(self, vector: Vectors, k: int) -> tuple[Rows, Vectors]:
        """Return up to k rows with their cosines, best first."""
        matrix = self._matrix
        if self._count == 0 or k < 1:
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32)
        if matrix is None:
            return self._search_graph(np.asarray(vector, dtype=np.float32), k)
        rows = np.flatnonzero(matrix.present)
        cosines = (matrix.vectors @ vector)[rows]
        if k < len(rows):
            best = np.argpartition(-cosines, k)[:k]
            rows, cosines = rows[best], cosines[best]
        order = np.argsort(-cosines, kind="stable")
        return rows[order], cosines[order]

    def cosines_of(self, rows: Rows, vector: Vectors) -> Vectors:
        """Return the cosine with each of these rows (n,), 0 where there is no vector."""
        matrix = self._matrix
        if matrix is not None:
            inside = rows < len(matrix.present)
            return np.where(inside, matrix.vectors[np.where(inside, rows, 0)] @ vector, np.float32(0.0))
        cosines = np.zeros(len(rows), dtype=np.float32)
        known = self._keys
        keys = np.where(rows < len(known), known.take(rows, mode="clip"), -1)
        held = np.flatnonzero(keys >= 0)
        found = [(place, one) for place, one in zip(held, self._graph.get(keys[held])) if one is not None]
        if found:
            # One that left since then is None.
            vectors = np.stack([one for _, one in found]).astype(np.float32)
            cosines[[place for place, _ in found]] = vectors @ vector / np.linalg.norm(vectors, axis=1)
        return cosines

    def _put(self, matrix: _Matrix, rows: Rows, vectors: Vectors) -> None:
        highest = int(rows.max(initial=-1)) + 1
        if highest > len(matrix.present):
            matrix = matrix.grown(highest)
        matrix.vectors[rows] = vectors
        matrix.present[rows] = True
        self._matrix = matrix

    def _search_graph(self, vector: Vectors, k: int) -> tuple[Rows, Vectors]:
        stale = self._stale
        wanted = k if not stale else k + 8 + k * stale // max(1, self._count)
        matches = self._graph.search(vector, wanted, threads=1)
        keys, known = matches.keys.astype(np.int64), self._keys
        rows = keys & _ROW_MASK
        live = known.take(rows, mode="clip") == keys
        return rows[live][:k], (1.0 - matches.distances)[live][:k]

    def _new_keys(self, rows: Rows) -> NDArray[np.int64]:
        missing = int(rows.max(initial=-1)) + 1 - len(self._keys)
        if missing > 0:
            more = np.full(max(missing, len(self._keys)), -1, dtype=np.int64)
            self._keys = np.concatenate([self._keys, more])
        self._keys[rows] = rows | (self._additions << _ROW_BITS)
        self._additions += 1
        return np.asarray(self._keys[rows])

    def _fill_next_graph(self, rows: Rows, threads: int) -> None:
        """Take new rows and some of the old ones into the graph that will be searched next, if one is due."""
        if self._next_graph is not None:
            self._left_out.update(dict.fromkeys(rows.tolist()))
        elif not self._begin_next_graph():
            return
        due = self._matrix is None or self._count >= self._exact_below
        at_once = self._matrix is not None and due
        moving = len(self._left_out) if at_once else _MOVED_BY_EACH_CHANGE * max(1, len(rows))
        moved = np.array(list(islice(self._left_out, moving)), dtype=np.int64)
        if len(moved):
            self._move_to_next_graph(moved, threads)
        if due and not self._left_out:
            self._graph, self._next_graph = self._next_graph, None
            self._stale, self._next_stale = self._next_stale, 0
            self._matrix = None

    def _begin_next_graph(self) -> bool:
        """Begin one where the matrix is half full, or too much of the graph has left; return whether that is so."""
        matrix = self._matrix
        if matrix is not None and self._count >= self._exact_below // 2:
            rows = np.flatnonzero(matrix.present)
        elif matrix is None and self._stale > _MOST_STALE * self._count:
            rows = np.flatnonzero(self._keys >= 0)
        else:
            return False
        self._next_graph = self._empty_graph()
        self._left_out = dict.fromkeys(rows.tolist())
        return True

    def _move_to_next_graph(self, rows: Rows, threads: int) -> None:
        """Take rows into the next graph: those of the matrix get keys, those of the present graph keep theirs."""
        if self._matrix is not None:
            keys, vectors = self._new_keys(rows), self._matrix.vectors[rows]
        else:
            keys = self._keys[rows]
            vectors = np.stack(list(self._graph.get(keys))).astype(np.float32)
        self._next_graph.add(keys, vectors, threads=threads)
        for row in rows.tolist():
            del self._left_out[row]

    def _empty_graph(self) -> Any:
        from usearch.index import Index

        settings = self._settings
        return Index(
            ndim=self._dimension,
            metric="cos",
            dtype=settings.dtype,
            connectivity=settings.connectivity,
            expansion_add=settings.expansion_add,
            expansion_search=settings.expansion_search,
        )

    def _drop(self, row: int) -> bool:
        in_a_graph = row < len(self._keys) and self._keys[row] >= 0
        if self._matrix is not None:
            if row >= len(self._matrix.present) or not self._matrix.present[row]:
                return False
            self._matrix.present[row] = False
            self._matrix.vectors[row] = 0.0
        elif not in_a_graph:
            return False
        else:
            self._stale += 1
        if self._next_graph is not None and self._left_out.pop(row, self) is self:
            self._next_stale += 1
        if in_a_graph:
            self._keys[row] = -1
        self._count -= 1
        return True

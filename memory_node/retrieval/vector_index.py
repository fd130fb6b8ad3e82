"""Nearest neighbours by cosine: exact while that is faster, an HNSW graph (usearch) above."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.errors import InvalidValueError

Id = TypeVar("Id", bound=Hashable)


@dataclass(frozen=True)
class GraphSettings:
    """The HNSW graph (Malkov and Yashunin 2018): what `bench recall` measured to keep recall above 0.98.

    connectivity: links a node; expansion_add, expansion_search: candidates looked at; dtype: how vectors are kept.
    """

    connectivity: int = 24
    expansion_add: int = 128
    expansion_search: int = 512
    dtype: str = "f16"


class VectorIndex(Generic[Id]):
    """Unit vectors (dimension,) by id; safe to share between threads.

    exact_below: up to so many vectors every one is compared; from there on a graph is searched, for good.
    """

    def __init__(self, dimension: int, exact_below: int = 12_000, settings: GraphSettings | None = None) -> None:
        self._dimension = dimension
        self._exact_below = exact_below
        self._settings = settings or GraphSettings()
        self._rows = np.empty((64, dimension), dtype=np.float32)
        self._ids: list[Id | None] = []
        self._row_of: dict[Id, int] = {}
        self._free: list[int] = []
        self._graph: Any = None
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._row_of)

    def __contains__(self, id_: object) -> bool:
        return id_ in self._row_of

    @property
    def is_exact(self) -> bool:
        """Whether every vector is compared."""
        return self._graph is None

    def add(self, ids: Sequence[Id], vectors: NDArray[np.float32], threads: int = 1) -> None:
        """Take over vectors (n, dimension); an id that is there already gets the new vector.

        Raises:
            InvalidValueError: the shape is another one.
        """
        vectors = np.asarray(vectors, dtype=np.float32)
        if vectors.shape != (len(ids), self._dimension):
            raise InvalidValueError(f"VectorIndex: expected {(len(ids), self._dimension)}, got {vectors.shape}")
        with self._lock:
            for id_ in ids:
                if id_ in self._row_of:
                    self._drop(id_)
            rows = np.array([self._place(id_) for id_ in ids], dtype=np.int64)
            if self._graph is None and len(self._row_of) >= self._exact_below:
                self._grow(vectors, rows)
                self._make_graph(threads)
            elif self._graph is None:
                self._grow(vectors, rows)
            else:
                self._graph.add(rows, vectors, threads=threads)

    def remove(self, id_: Id) -> bool:
        """Take a vector out; return whether it was there."""
        with self._lock:
            if id_ not in self._row_of:
                return False
            self._drop(id_)
            return True

    def search(self, vector: NDArray[np.float32], k: int) -> list[tuple[Id, float]]:
        """Return up to k ids with their cosine, best first."""
        with self._lock:
            if not self._row_of or k < 1:
                return []
            rows, cosines = self._search_exact(vector, k) if self._graph is None else self._search_graph(vector, k)
            found = [(self._ids[row], float(cosine)) for row, cosine in zip(rows.tolist(), cosines.tolist())]
        return [(id_, cosine) for id_, cosine in found if id_ is not None]

    def _search_exact(self, vector: NDArray[np.float32], k: int) -> tuple[NDArray[Any], NDArray[Any]]:
        cosines = self._rows[: len(self._ids)] @ np.asarray(vector, dtype=np.float32)
        cosines[self._free] = -np.inf
        count = min(k, len(self._row_of))
        best = np.argpartition(-cosines, count - 1)[:count]
        best = best[np.argsort(-cosines[best], kind="stable")]
        return best, cosines[best]

    def _search_graph(self, vector: NDArray[np.float32], k: int) -> tuple[NDArray[Any], NDArray[Any]]:
        matches = self._graph.search(np.asarray(vector, dtype=np.float32), k, threads=1)
        return matches.keys, 1.0 - matches.distances

    def _place(self, id_: Id) -> int:
        if self._free:
            row = self._free.pop()
            self._ids[row] = id_
        else:
            row = len(self._ids)
            self._ids.append(id_)
        self._row_of[id_] = row
        return row

    def _grow(self, vectors: NDArray[np.float32], rows: NDArray[np.int64]) -> None:
        if len(self._ids) > len(self._rows):
            larger = np.empty((max(len(self._ids), 2 * len(self._rows)), self._dimension), dtype=np.float32)
            larger[: len(self._rows)] = self._rows
            self._rows = larger
        self._rows[rows] = vectors

    def _make_graph(self, threads: int) -> None:
        from usearch.index import Index

        settings = self._settings
        self._graph = Index(
            ndim=self._dimension,
            metric="cos",
            dtype=settings.dtype,
            connectivity=settings.connectivity,
            expansion_add=settings.expansion_add,
            expansion_search=settings.expansion_search,
        )
        rows = np.array(sorted(self._row_of.values()), dtype=np.int64)
        self._graph.add(rows, self._rows[rows], threads=threads)
        self._rows = np.empty((0, self._dimension), dtype=np.float32)

    def _drop(self, id_: Id) -> None:
        row = self._row_of.pop(id_)
        self._ids[row] = None
        self._free.append(row)
        if self._graph is not None:
            self._graph.remove(row)

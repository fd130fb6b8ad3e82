"""Rows grouped by the nearest of a few hundred centres, so that a search looks at some of a million vectors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memory_node.knowledge.retrieval.packing import Arrays, pack_numbers, part, split, under

Rows = NDArray[np.int64]
Vectors = NDArray[np.float32]

CENTRES = 512
# Rows that a search looks at: the nearest clusters are taken whole until they have this many.
LOOKED_AT = 65_536
_ROUNDS = 4
_NO_CLUSTER = -1
_LEAST_ROOM = 64


class Clusters:
    """An inverted file over centres (spherical k-means; Jégou, Douze and Schmid 2011); not thread-safe.

    centres (n, dimension): unit vectors. They stay as they are: rows that come later join the nearest.
    """

    def __init__(self, centres: Vectors) -> None:
        self._centres = centres
        self._members = [np.zeros(_LEAST_ROOM, dtype=np.int64) for _ in centres]
        self._sizes = np.zeros(len(centres), dtype=np.int64)
        # Of each row: its cluster, and its place there.
        self._cluster = np.full(64, _NO_CLUSTER, dtype=np.int32)
        self._place = np.zeros(64, dtype=np.int32)

    @classmethod
    def of_sample(cls, vectors: Vectors, seed: int = 0) -> Clusters:
        """Return empty clusters with centres that suit vectors (n, dimension)."""
        generator = np.random.default_rng(seed)
        centres = vectors[generator.choice(len(vectors), min(CENTRES, len(vectors)), replace=False)]
        for _ in range(_ROUNDS):
            nearest = _nearest(vectors, centres)
            sums = np.zeros_like(centres)
            np.add.at(sums, nearest, vectors)
            lengths = np.linalg.norm(sums, axis=1, keepdims=True)
            centres = np.where(lengths > 0.0, sums / np.maximum(lengths, 1e-9), centres)
        return cls(np.ascontiguousarray(centres))

    @classmethod
    def from_packed(cls, arrays: Arrays) -> Clusters:
        """Return what packed() gave as clusters."""
        made = cls(arrays["centres"])
        members = part("members", arrays)
        for cluster, rows in enumerate(split(members["numbers"], members)):
            made._members[cluster] = np.concatenate([rows, np.zeros(_LEAST_ROOM, np.uint32)]).astype(np.int64)
            made._sizes[cluster] = len(rows)
        made._cluster, made._place = arrays["cluster"], arrays["place"]
        return made

    def packed(self) -> Arrays:
        """Return everything as arrays."""
        held = [members[:size].tolist() for members, size in zip(self._members, self._sizes.tolist())]
        return {
            "centres": self._centres,
            **under("members", pack_numbers(held)),
            "cluster": self._cluster,
            "place": self._place,
        }

    def add(self, rows: Rows, vectors: Vectors) -> None:
        """Take over n rows that are in no cluster, with their vectors (n, dimension)."""
        highest = int(rows.max(initial=-1)) + 1
        if highest > len(self._cluster):
            more = max(highest, 2 * len(self._cluster)) - len(self._cluster)
            self._cluster = np.concatenate([self._cluster, np.full(more, _NO_CLUSTER, dtype=np.int32)])
            self._place = np.concatenate([self._place, np.zeros(more, dtype=np.int32)])
        for row, cluster in zip(rows.tolist(), _nearest(vectors, self._centres).tolist()):
            members, size = self._members[cluster], int(self._sizes[cluster])
            if size == len(members):
                members = self._members[cluster] = np.concatenate([members, np.zeros_like(members)])
            members[size] = row
            self._cluster[row], self._place[row] = cluster, size
            self._sizes[cluster] += 1

    def remove(self, row: int) -> None:
        """Take a row out of its cluster; nothing where it is in none."""
        cluster, place = int(self._cluster[row]), int(self._place[row])
        if cluster == _NO_CLUSTER:
            return
        self._sizes[cluster] -= 1
        last = int(self._members[cluster][self._sizes[cluster]])
        self._members[cluster][place] = last
        self._place[last] = place
        self._cluster[row] = _NO_CLUSTER

    def near(self, vector: Vectors) -> Rows:
        """Return the rows of the clusters nearest to a vector (dimension,), about LOOKED_AT of them or all."""
        order = np.argsort(-(self._centres @ vector), kind="stable")
        held = np.cumsum(self._sizes[order])
        clusters = order[: int(np.searchsorted(held, LOOKED_AT)) + 1].tolist()
        return np.concatenate([self._members[cluster][: self._sizes[cluster]] for cluster in clusters])


def _nearest(vectors: Vectors, centres: Vectors) -> NDArray[np.int64]:
    """Return (n,) the place of the centre nearest to each vector."""
    return np.asarray(np.argmax(vectors @ centres.T, axis=1))

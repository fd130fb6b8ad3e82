"""The product's search without a model: equal words are alike, nothing else is."""

import threading
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.answer import FindQuery, Recollection
from memory_node.questions.locate import LongTermSearch
from memory_node.scene_graph.graph import SceneGraph
from memory_node.search.glosses import ClassGlosses
from memory_node.search.ranker import Ranker


class HashedWords:
    """Unit vectors of hashed words."""

    dimension = 64

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = np.full((len(texts), self.dimension), 1e-3, np.float32)
        for row, text in enumerate(texts):
            for word in text.lower().split():
                vectors[row, sum(map(ord, word)) % self.dimension] += 1.0
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def find(graph: SceneGraph, query: FindQuery, now_ns: int | None = None) -> Recollection:
    """Return what a memory with this scene graph would answer; now_ns: by default the graph's last stamp."""
    ranker = Ranker(HashedWords(), ClassGlosses.of(ObjectCatalogue("none", ())))
    now_ns = graph.state.now_ns if now_ns is None else now_ns
    return LongTermSearch(graph, ranker, threading.RLock()).find(query, now_ns)

"""How well each class fits a request: cosine, BM25, and whether the request names it."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.ports import TextEmbedder
from memory_node.retrieval.config import RetrievalConfig
from memory_node.retrieval.glosses import ClassGlosses, NamedClasses
from memory_node.retrieval.lexical import Bm25


class ClassScores:
    """Scores the classes of the glosses and any others that were met; their texts are embedded once."""

    def __init__(self, embedder: TextEmbedder, glosses: ClassGlosses, config: RetrievalConfig) -> None:
        self._embedder = embedder
        self._glosses = glosses
        self._config = config
        self._learn(list(glosses.texts))

    def embed(self, text: str) -> NDArray[np.float32]:
        """Return the unit vector (d,) of a request."""
        return np.asarray(self._embedder.embed([text])[0])

    def log_odds(self, text: str, vector: NDArray[np.float32], class_names: Iterable[str]) -> dict[str, float]:
        """Return for each class the log-odds that the request means it; vector: the request's embedding."""
        wanted = set(class_names)
        if not wanted <= self._index.keys():
            self._learn([*self._index, *sorted(wanted - self._index.keys())])
        config = self._config
        cosines = np.maximum.reduceat(self._vectors @ vector, self._starts)
        log_odds = config.dense_weight * config.cosine_slope * (cosines - config.cosine_center)
        # A class that memory may lack but the glosses know can fit better: then this one is not what is meant.
        log_odds -= config.dense_weight * config.rivalry_slope * (cosines.max() - cosines)
        log_odds += config.lexical_weight * 4.0 * self._lexical.scores(text)
        named = self._named.find(text)
        if named:
            signs = np.full(len(log_odds), -1.0)
            signs[[self._index[name] for name in named]] = 1.0
            log_odds += config.class_weight * signs
        return {name: float(log_odds[self._index[name]]) for name in wanted}

    def _learn(self, class_names: list[str]) -> None:
        texts = [self._glosses.texts_of(name) for name in class_names]
        # Equal phrases are embedded once: kinds share them among their classes.
        distinct = list(dict.fromkeys(text for group in texts for text in group))
        rows = {text: row for row, text in enumerate(distinct)}
        vectors = self._embedder.embed(distinct)
        self._vectors = vectors[[rows[text] for group in texts for text in group]]
        self._starts = np.cumsum([0, *(len(group) for group in texts[:-1])])
        self._lexical = Bm25(texts)
        self._named = NamedClasses(self._glosses, class_names)
        self._index = {name: index for index, name in enumerate(class_names)}

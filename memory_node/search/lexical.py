"""BM25 over a few hundred short texts, in memory."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from memory_node.search.request_words import content_tokens


class Bm25:
    """Okapi BM25 (Robertson and Zaragoza 2009) with an idf that is never negative."""

    def __init__(self, documents: Sequence[Iterable[str]], k1: float = 1.2, b: float = 0.75) -> None:
        """documents: each a bag of phrases."""
        self._counts = [Counter(token for text in texts for token in content_tokens(text)) for texts in documents]
        lengths = np.array([sum(counts.values()) for counts in self._counts], dtype=np.float64)
        mean = float(lengths.mean()) if len(lengths) else 1.0
        self._norms = k1 * (1.0 - b + b * lengths / max(mean, 1.0))
        self._k1 = k1
        self._postings: dict[str, list[int]] = {}
        for index, counts in enumerate(self._counts):
            for token in counts:
                self._postings.setdefault(token, []).append(index)

    def scores(self, query: str) -> NDArray[np.float64]:
        """Return for each document the share in [0, 1) of the highest score that the query could reach."""
        total = len(self._counts)
        scores = np.zeros(total)
        highest = 0.0
        for token in set(content_tokens(query)):
            holders = self._postings.get(token, [])
            idf = math.log1p((total - len(holders) + 0.5) / (len(holders) + 0.5))
            highest += idf * (self._k1 + 1.0)
            for index in holders:
                count = self._counts[index][token]
                scores[index] += idf * count * (self._k1 + 1.0) / (count + self._norms[index])
        return scores / highest if highest > 0.0 else scores

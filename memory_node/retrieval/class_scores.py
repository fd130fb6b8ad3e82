"""How well each class fits a request: cosine, BM25, and whether the request names it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.ports import TextEmbedder
from memory_node.retrieval.config import RetrievalConfig
from memory_node.retrieval.glosses import ClassGlosses, NamedClasses
from memory_node.retrieval.lexical import Bm25

# BM25 is a share of the best possible; this many log-odds for all of it.
_LEXICAL_LOG_ODDS = 4.0


@dataclass(frozen=True)
class _ClassTable:
    """What is known of the classes: the vectors of their texts (n, d), where each class's begin, and their words."""

    index: dict[str, int]
    vectors: NDArray[np.float32]
    starts: NDArray[np.int64]
    lexical: Bm25
    named: NamedClasses

    @classmethod
    def build(cls, class_names: list[str], glosses: ClassGlosses, embedder: TextEmbedder) -> _ClassTable:
        texts = [glosses.texts_of(name) for name in class_names]
        # Equal phrases are embedded once: kinds share them among their classes.
        distinct = list(dict.fromkeys(text for group in texts for text in group))
        rows = {text: row for row, text in enumerate(distinct)}
        vectors = embedder.embed(distinct)
        return cls(
            {name: index for index, name in enumerate(class_names)},
            vectors[[rows[text] for group in texts for text in group]],
            np.cumsum([0, *(len(group) for group in texts[:-1])]),
            Bm25(texts),
            NamedClasses(glosses, class_names),
        )


class ClassScores:
    """Scores the classes of the glosses and any others that were met; their texts are embedded once."""

    def __init__(self, embedder: TextEmbedder, glosses: ClassGlosses, config: RetrievalConfig) -> None:
        self._embedder = embedder
        self._glosses = glosses
        self._config = config
        self._table = _ClassTable.build(list(glosses.texts), glosses, embedder)

    def embed(self, text: str) -> NDArray[np.float32]:
        """Return the unit vector (d,) of a request."""
        return np.asarray(self._embedder.embed([text])[0])

    def log_odds(self, text: str, vector: NDArray[np.float32], class_names: Iterable[str]) -> dict[str, float]:
        """Return for each class the log-odds that the request means it; vector: the request's embedding."""
        wanted = set(class_names)
        table = self._table_with(wanted)
        config = self._config
        cosines = np.maximum.reduceat(table.vectors @ vector, table.starts)
        log_odds = config.dense_weight * config.cosine_slope * (cosines - config.cosine_center)
        # A class that memory may lack but the glosses know can fit better: then this one is not what is meant.
        log_odds -= config.dense_weight * config.rivalry_slope * (cosines.max() - cosines)
        log_odds += config.lexical_weight * _LEXICAL_LOG_ODDS * table.lexical.scores(text)
        named = table.named.find(text)
        if named:
            signs = np.full(len(log_odds), -1.0)
            signs[[table.index[name] for name in named]] = 1.0
            log_odds += config.class_weight * signs
        return {name: float(log_odds[table.index[name]]) for name in wanted}

    def _table_with(self, class_names: set[str]) -> _ClassTable:
        table = self._table
        unknown = class_names - table.index.keys()
        if unknown:
            # Replaced whole, so that another thread sees the old table or the new one.
            table = _ClassTable.build([*table.index, *sorted(unknown)], self._glosses, self._embedder)
            self._table = table
        return table

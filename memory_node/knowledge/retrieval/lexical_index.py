"""An inverted index that grows: which propositions hold which words."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.int64]
Floats = NDArray[np.float64]

K1, B = 1.2, 0.75
# Of a query's words the rarest are searched until so many postings have been read: a word that a tenth of a million
# propositions hold finds nothing, and scores are completed for what the others found.
MOST_POSTINGS = 60_000
_MOST_COUNTED = 65_535


class LexicalIndex:
    """Okapi BM25 (Robertson and Zaragoza 2009) over numbered rows; not thread-safe.

    Rows count up from 0; a removed row is never given again.
    """

    def __init__(self) -> None:
        # Rows and, beside them, how often each holds the word.
        self._postings: dict[str, tuple[array[int], array[int]]] = {}
        self._removed_postings: Counter[str] = Counter()
        self._counts: list[dict[str, int]] = []
        self._lengths = array("I")
        self._scratch = np.zeros(0)
        self._live = self._total_length = 0

    def __len__(self) -> int:
        return self._live

    def add(self, words: Sequence[str]) -> int:
        """Take over a text's words; return its row."""
        row = len(self._counts)
        counts = dict(Counter(words))
        for word, count in counts.items():
            postings = self._postings.get(word)
            if postings is None:
                postings = self._postings[word] = (array("I"), array("H"))
            postings[0].append(row)
            postings[1].append(min(count, _MOST_COUNTED))
        self._counts.append(counts)
        self._lengths.append(len(words))
        self._live += 1
        self._total_length += len(words)
        return row

    def remove(self, row: int) -> None:
        """Take a row out; its postings stay until they are the larger part of a word's."""
        for word in self._counts[row]:
            self._removed_postings[word] += 1
            if 2 * self._removed_postings[word] > len(self._postings[word][0]):
                self._compact(word, row)
        self._total_length -= self._lengths[row]
        self._live -= 1
        self._counts[row] = {}
        self._lengths[row] = 0

    def counts_of(self, row: int) -> Mapping[str, int]:
        """Return how often a row holds each of its words."""
        return self._counts[row]

    def length_of(self, row: int) -> int:
        """Return how many words a row has."""
        return self._lengths[row]

    def idf(self, word: str) -> float:
        """Return the weight of a word: high where few rows hold it; never negative."""
        postings = self._postings.get(word)
        holders = len(postings[0]) - self._removed_postings.get(word, 0) if postings else 0
        return math.log1p((self._live - holders + 0.5) / (holders + 0.5))

    def search(self, words: Sequence[str], k: int) -> tuple[Rows, Floats]:
        """Return up to k rows that hold the words, best first, with their BM25 scores."""
        mean = max(1.0, self._total_length / max(1, self._live))
        if len(self._scratch) < len(self._counts):
            self._scratch = np.zeros(max(1024, 2 * len(self._counts)))
        scratch, read = self._scratch, 0
        touched: list[Rows] = []
        lengths = np.frombuffer(self._lengths, dtype=np.uint32) if self._lengths else np.zeros(0, np.uint32)
        known = [word for word in dict.fromkeys(words) if word in self._postings]
        for word in sorted(known, key=lambda word: len(self._postings[word][0])):
            holders, times = self._postings[word]
            rows = np.frombuffer(holders, dtype=np.uint32).astype(np.int64)
            read += len(rows)
            if touched and read > MOST_POSTINGS:
                break
            counts = np.frombuffer(times, dtype=np.uint16)
            norms = K1 * (1.0 - B + B * lengths[rows] / mean)
            scratch[rows] += self.idf(word) * counts * (K1 + 1.0) / (counts + norms)
            touched.append(rows)
        if not touched:
            return np.empty(0, np.int64), np.empty(0)
        found = np.unique(np.concatenate(touched))
        scores = scratch[found].copy()
        scratch[found] = 0.0
        scores[lengths[found] == 0] = 0.0  # removed rows
        order = np.argsort(-scores, kind="stable")[:k]
        order = order[scores[order] > 0.0]
        return found[order], scores[order]

    def _compact(self, word: str, gone: int) -> None:
        kept = [(row, times) for row, times in zip(*self._postings[word]) if row != gone and self._counts[row]]
        if kept:
            self._postings[word] = (array("I", (row for row, _ in kept)), array("H", (times for _, times in kept)))
        else:
            del self._postings[word]
        del self._removed_postings[word]

"""The lexical index: BM25 over texts that come and go, of classes and of propositions."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.int64]
Floats = NDArray[np.float64]

K1, B = 1.2, 0.75
# Postings that a search reads, those of the rarest words first: a word in a tenth of a million propositions finds
# nothing useful. The scores of the found rows then include all words.
MOST_POSTINGS = 60_000
_MOST_COUNTED = 65_535
_NO_WORD = -1


class Postings:
    """The rows that hold a word, ascending, and how often each holds it."""

    __slots__ = ("rows", "times")

    def __init__(self) -> None:
        self.rows, self.times = array("I"), array("H")

    def put(self, row: int, times: int) -> None:
        """Note how often a row holds the word."""
        place = len(self.rows) if not self.rows or row > self.rows[-1] else bisect_left(self.rows, row)
        self.rows.insert(place, row)
        self.times.insert(place, min(times, _MOST_COUNTED))

    def remove(self, row: int) -> None:
        """Take out a row that holds it."""
        place = bisect_left(self.rows, row)
        del self.rows[place], self.times[place]

    def newest(self, most: int) -> tuple[Rows, NDArray[np.uint16]]:
        """Return the last `most` rows and how often each holds the word; the arrays may grow afterwards."""
        rows = np.frombuffer(self.rows, dtype=np.uint32)[-most:]
        return rows.astype(np.int64), np.frombuffer(self.times, dtype=np.uint16)[-most:].copy()


class LexicalIndex:
    """Okapi BM25 (Robertson and Zaragoza 2009) over numbered rows; not thread-safe.

    A row that was removed is given again. For each row the numbers of its words are kept too, four bytes each, so that
    a row can be scored for any question.
    """

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._postings: list[Postings] = []
        self._words_of: list[bytes] = []
        self._free: list[int] = []
        self._live = self._total_length = 0
        self._lengths = np.zeros(64, dtype=np.float32)
        # Between calls the first is all 0 and the second all _NO_WORD.
        self._scores = np.zeros(64)
        self._columns = np.full(64, _NO_WORD, dtype=np.int32)

    @classmethod
    def of(cls, texts: Iterable[Sequence[str]]) -> LexicalIndex:
        """Return an index of texts, each as its words; their rows count from 0."""
        made = cls()
        for words in texts:
            made.add(words)
        return made

    def __len__(self) -> int:
        return self._live

    def add(self, words: Sequence[str]) -> int:
        """Take over a text's words; return its row."""
        row = self._free.pop() if self._free else len(self._words_of)
        numbers = [self._number(word) for word in words]
        for number, times in Counter(numbers).items():
            self._postings[number].put(row, times)
        packed = np.array(numbers, dtype=np.uint32).tobytes()
        if row == len(self._words_of):
            self._words_of.append(packed)
        else:
            self._words_of[row] = packed
        if row >= len(self._lengths):
            self._lengths = np.concatenate([self._lengths, np.zeros_like(self._lengths)])
            self._scores = np.zeros(len(self._lengths))
        self._lengths[row] = len(words)
        self._live += 1
        self._total_length += len(words)
        return row

    def remove(self, row: int) -> None:
        """Take a row out."""
        numbers = np.frombuffer(self._words_of[row], dtype=np.uint32)
        for number in np.unique(numbers).tolist():
            self._postings[number].remove(row)
        self._words_of[row] = b""
        self._lengths[row] = 0.0
        self._total_length -= len(numbers)
        self._live -= 1
        self._free.append(row)

    def lengths_of(self, rows: Rows) -> Floats:
        """Return (n,) how many words rows have."""
        return self._lengths[rows].astype(np.float64)

    def counts_of(self, rows: Rows, words: Sequence[str]) -> Floats:
        """Return (n, words) how often each row holds each word."""
        known = [(self._numbers[word], column) for column, word in enumerate(words) if word in self._numbers]
        joined = np.frombuffer(b"".join([self._words_of[row] for row in rows.tolist()]), dtype=np.uint32)
        if not known or not len(joined):
            return np.zeros((len(rows), len(words)))
        numbers, columns = zip(*known)
        self._columns[list(numbers)] = columns
        found = self._columns[joined]
        self._columns[list(numbers)] = _NO_WORD
        held = np.flatnonzero(found != _NO_WORD)
        owners = np.repeat(np.arange(len(rows)), self._lengths[rows].astype(np.int64))
        cells = owners[held] * len(words) + found[held]
        counts = np.bincount(cells, minlength=len(rows) * len(words))
        return counts.reshape(len(rows), len(words)).astype(np.float64)

    def idf(self, word: str) -> float:
        """Return the weight of a word: high where few rows hold it; never negative."""
        number = self._numbers.get(word)
        holders = len(self._postings[number].rows) if number is not None else 0
        return math.log1p((self._live - holders + 0.5) / (holders + 0.5))

    def search(self, words: Sequence[str], k: int) -> tuple[Rows, Floats]:
        """Return up to k rows that hold the words, best first, with their BM25 scores."""
        mean = self._mean_length()
        read = 0
        touched: list[Rows] = []
        known = [(self._postings[self._numbers[word]], word) for word in dict.fromkeys(words) if word in self._numbers]
        for postings, word in sorted(known, key=lambda one: len(one[0].rows)):
            read += len(postings.rows)
            if touched and read > MOST_POSTINGS:
                break
            rows, scores = self._scored(word, postings, mean)
            self._scores[rows] += scores
            touched.append(rows)
        if not touched:
            return np.empty(0, np.int64), np.empty(0)
        read_rows = np.concatenate(touched)
        scores = self._scores[read_rows]
        # A row stands once for each of its words.
        most = k * len(touched)
        best = np.argpartition(-scores, most)[:most] if most < len(scores) else slice(None)
        found = np.unique(read_rows[best])
        result = self._scores[found]
        self._scores[read_rows] = 0.0
        order = np.argsort(-result, kind="stable")[:k]
        return found[order], result[order]

    def shares(self, words: Iterable[str]) -> Floats:
        """Return (rows,) the BM25 score of each as a share, in [0, 1), of the highest that these words could reach."""
        mean, highest, scores = self._mean_length(), 0.0, np.zeros(len(self._words_of))
        for word in set(words):
            highest += self.idf(word) * (K1 + 1.0)
            if word in self._numbers:
                rows, found = self._scored(word, self._postings[self._numbers[word]], mean)
                scores[rows] += found
        return scores / highest if highest > 0.0 else scores

    def _mean_length(self) -> float:
        return max(1.0, self._total_length / max(1, self._live))

    def _scored(self, word: str, postings: Postings, mean: float) -> tuple[Rows, Floats]:
        """Return the newest rows that hold a word, with what it adds to their scores."""
        rows, times = postings.newest(MOST_POSTINGS)
        norms = times + K1 * (1.0 - B + B / mean * self._lengths[rows])
        return rows, (self.idf(word) * (K1 + 1.0)) * times / norms

    def _number(self, word: str) -> int:
        number = self._numbers.get(word)
        if number is None:
            number = self._numbers[word] = len(self._postings)
            self._postings.append(Postings())
            if number >= len(self._columns):
                self._columns = np.full(2 * len(self._columns), _NO_WORD, dtype=np.int32)
        return number

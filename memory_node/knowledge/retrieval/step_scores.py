"""How well steps answer a question, each by itself: by its best proposition, and by what stands around it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory_node.knowledge.config import KnowledgeConfig
from memory_node.knowledge.retrieval.lexical_index import K1, B
from memory_node.knowledge.retrieval.statement import neighbour
from memory_node.knowledge.retrieval.statement_rows import StatementRows
from memory_node.knowledge.text.words import stems

Floats = NDArray[np.float64]
Vectors = NDArray[np.float32]
# What a step's neighbours add to its meaning, by how far after it they lie: an answer stands behind its question.
_AROUND = {0: 1.0, -1: 0.5, 1: 0.25, -2: 0.2, 2: 0.1}
# Neighbours whose words count as standing around a step.
_NEAREST = (-1, 0, 1)
# Propositions of a neighbour that count, so that long neighbours cost no more than short ones.
_OF_A_NEIGHBOUR = 2


@dataclass(frozen=True)
class Question:
    """A question as retrieval sees it.

    vector (dimension,): unit length. words: stems, each once. weights (words,): idf. subjects: those of the graph that
    the question names.
    """

    text: str
    vector: Vectors
    words: tuple[str, ...]
    weights: Floats
    subjects: frozenset[str]


@dataclass(frozen=True)
class StepScores:
    """Candidate steps and their scores, in one order.

    relevance (n,): each by itself. best (n,): row of the step's best proposition. meanings (n, dimension): of each step
    with its neighbours, unit length. covers (n, words): whether the step holds each of the question's words. named
    (n,): whether the question names the step's subject.
    """

    steps: list[str]
    relevance: Floats
    best: list[int]
    meanings: Vectors
    covers: Floats
    named: NDArray[np.bool_]


def make_question(text: str, vector: Vectors, rows: StatementRows) -> Question:
    """Return a question with its words and the subjects that it names."""
    words = tuple(dict.fromkeys(stems(text)))
    weights = np.array([rows.words.idf(word) for word in words])
    return Question(text, vector, words, weights, frozenset(rows.subjects_in_words(text)))


def score_steps(rows: StatementRows, question: Question, steps: Sequence[str], config: KnowledgeConfig) -> StepScores:
    """Return the scores of steps, each of which holds a proposition; scores are relative to the best of them."""
    near = [_near(rows, step) for step in steps]
    flat = _Flat(rows, question, list(dict.fromkeys(row for some in near for held in some.values() for row in held)))
    own, starts = _joined([flat.places(some[0]) for some in near])
    window, window_starts = _joined([[p for away in _NEAREST for p in flat.places(some[away])] for some in near])
    meanings = _meanings(flat, near)
    single = config.own_word_weight * _of_best(_bm25(flat.counts[own], flat.lengths[own], question.weights))
    single += config.own_likeness_weight * (flat.vectors[own] @ question.vector)
    ends = [*starts[1:], len(own)]
    best = [flat.rows[own[start + int(np.argmax(single[start:end]))]] for start, end in zip(starts, ends)]
    counts = np.add.reduceat(flat.counts[window], window_starts)
    lengths = np.add.reduceat(flat.lengths[window], window_starts)
    named = np.array([rows.subject_of(step) in question.subjects for step in steps])
    relevance = np.maximum.reduceat(single, starts) + config.subject_weight * named
    relevance += config.context_word_weight * _of_best(_bm25(counts, lengths, question.weights))
    relevance += config.context_likeness_weight * (meanings @ question.vector)
    covers = np.minimum(np.add.reduceat(flat.counts[own], starts), 1.0)
    return StepScores(list(steps), relevance, best, meanings, covers, named)


def _near(rows: StatementRows, step: str) -> dict[int, Sequence[int]]:
    """Return the rows of a step and of its neighbours, by how far after it these lie."""
    found: dict[int, Sequence[int]] = {0: rows.rows_of(step)}
    found.update((away, rows.rows_of(neighbour(step, away))[:_OF_A_NEIGHBOUR]) for away in _AROUND if away)
    return found


class _Flat:
    """The rows of all candidates and their neighbours.

    counts (rows, words), lengths (rows,), vectors (rows, dimension): by place in `rows`.
    """

    def __init__(self, rows: StatementRows, question: Question, held: list[int]) -> None:
        self.rows = held
        self._place = {row: place for place, row in enumerate(held)}
        of_rows = [rows.words.counts_of(row) for row in held]
        self.counts = np.zeros((len(held), len(question.words)))
        columns = {word: column for column, word in enumerate(question.words)}
        for place, counts in enumerate(of_rows):
            for word in columns.keys() & counts.keys():
                self.counts[place, columns[word]] = counts[word]
        self.lengths = np.array([rows.words.length_of(row) for row in held], dtype=np.float64)
        self.vectors = rows.vectors.of(np.array(held, dtype=np.int64))

    def places(self, rows: Sequence[int]) -> list[int]:
        """Return where rows stand."""
        return [self._place[row] for row in rows]


def _joined(parts: Sequence[Sequence[int]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return all parts behind each other, and where each begins."""
    joined = np.array([place for part in parts for place in part], dtype=np.int64)
    return joined, np.cumsum([0, *map(len, parts)])[:-1]


def _of_best(scores: Floats) -> Floats:
    return scores / max(float(scores.max(initial=0.0)), 1e-9)


def _bm25(counts: Floats, lengths: Floats, weights: Floats) -> Floats:
    norms = K1 * (1.0 - B + B * lengths / max(float(lengths.mean()), 1.0))
    return np.asarray((counts * (K1 + 1.0) / (counts + norms[:, None])) @ weights)


def _meanings(flat: _Flat, near: Sequence[dict[int, Sequence[int]]]) -> Vectors:
    """Return (n, dimension) the mean vector of each step and, less, of its neighbours; unit length."""
    places, starts = _joined([[p for held in some.values() for p in flat.places(held)] for some in near])
    shares = [_AROUND[away] / len(held) for some in near for away, held in some.items() for _ in held]
    total = np.add.reduceat(flat.vectors[places] * np.array(shares, dtype=np.float32)[:, None], starts)
    return np.asarray(total / np.maximum(np.linalg.norm(total, axis=1, keepdims=True), 1e-9), dtype=np.float32)

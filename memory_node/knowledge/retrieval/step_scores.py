"""Scores each step alone for a question: by its best proposition, and by its context."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from memory_node.knowledge.config import KnowledgeConfig
from memory_node.knowledge.retrieval.row_tables import NO_STEP
from memory_node.knowledge.retrieval.statement_rows import StatementRows
from memory_node.knowledge.text import stem, stems
from memory_node.search.lexical_index import K1, B

Floats = NDArray[np.float64]
Vectors = NDArray[np.float32]
Places = NDArray[np.int64]
# Weights of a step's own rows and of its neighbours' rows, in the order of `AROUND`, in the step's mean vector. In a
# talk an answer follows its question, so neighbours count.
_SHARES = np.array([1.0, 0.5, 0.25, 0.2, 0.1], dtype=np.float32)
# Neighbours whose words count as a step's context: the one before and the one after it.
_NEAREST = 2
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

    def holds(self, concept: str) -> bool:
        """Return whether the question has a word of a concept."""
        return any(stem(word) in self.words for word in concept.split())


@dataclass(frozen=True)
class StepScores:
    """Candidate steps and their scores, in one order.

    subjects: the key of what each is about, "" for nothing. relevance (n,): each by itself. best (n,): row of the
    step's best proposition. meanings (n, dimension): of each step with its neighbours, unit length. covers (n, words):
    whether the step holds each of the question's words. named (n,): whether the question names the step's subject.
    """

    steps: list[int]
    subjects: list[str]
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


def score_steps(rows: StatementRows, question: Question, steps: Sequence[int], config: KnowledgeConfig) -> StepScores:
    """Return the scores of steps, each of which holds a proposition; scores are relative to the best of them."""
    flat = _Flat(rows, question, steps)
    own, starts = flat.of_steps_themselves()
    single = config.own_word_weight * _of_best(_bm25(flat.counts[own], flat.lengths[own], question.weights))
    single += config.own_likeness_weight * (flat.vectors[own] @ question.vector)
    ends = [*starts[1:], len(own)]
    best = [int(flat.rows[own[start + int(np.argmax(single[start:end]))]]) for start, end in zip(starts, ends)]
    window, window_starts = flat.of_windows()
    counts = np.add.reduceat(flat.counts[window], window_starts)
    lengths = np.add.reduceat(flat.lengths[window], window_starts)
    meanings = flat.meanings()
    subjects = [rows.subject_of(step) for step in steps]
    named = np.array([subject in question.subjects for subject in subjects])
    relevance = np.maximum.reduceat(single, starts) + config.subject_weight * named
    relevance += config.context_word_weight * _of_best(_bm25(counts, lengths, question.weights))
    relevance += config.context_likeness_weight * (meanings @ question.vector)
    covers = np.minimum(np.add.reduceat(flat.counts[own], starts), 1.0)
    return StepScores(list(steps), subjects, relevance, best, meanings, covers, named)


class _Flat:
    """The rows of all candidates and their neighbours, those of a candidate behind each other, its own ones first.

    rows (n,): each once. counts (n, words), lengths (n,), vectors (n, dimension): of these rows.
    """

    def __init__(self, rows: StatementRows, question: Question, steps: Sequence[int]) -> None:
        table = rows.steps
        # One part for each candidate and each of its neighbours that holds rows: (candidate, kind, rows).
        parts = [(place, 0, table.rows(step)) for place, step in enumerate(steps)]
        parts += [
            (place, kind, table.rows(near)[:_OF_A_NEIGHBOUR])
            for place, step in enumerate(steps)
            for kind, near in enumerate(table.around(step), 1)
            if near != NO_STEP
        ]
        parts.sort(key=itemgetter(0, 1))
        sizes = np.array([len(held) for _, _, held in parts])
        kinds = np.array([kind for _, kind, _ in parts])
        self._owners = np.repeat(np.array([place for place, _, _ in parts]), sizes)
        self._kinds = np.repeat(kinds, sizes)
        self._shares = np.repeat(_SHARES[kinds] / sizes.astype(np.float32), sizes)
        held = np.fromiter(chain.from_iterable(held for _, _, held in parts), dtype=np.int64)
        self.rows, self._places = np.unique(held, return_inverse=True)
        self.counts = rows.words.counts_of(self.rows, question.words)
        self.lengths = rows.words.lengths_of(self.rows)
        self.vectors = rows.vectors.of(self.rows)

    def of_steps_themselves(self) -> tuple[Places, Places]:
        """Return the places in `rows` of the candidates' own rows, and where each candidate's begin."""
        return self._where(self._kinds == 0)

    def of_windows(self) -> tuple[Places, Places]:
        """Return the places in `rows` of the candidates' own and nearest rows, and where each candidate's begin."""
        return self._where(self._kinds <= _NEAREST)

    def meanings(self) -> Vectors:
        """Return (candidates, dimension) the mean vector of each and, less, of its neighbours; unit length."""
        _, starts = self._where(self._kinds >= 0)
        total = np.add.reduceat(self.vectors[self._places] * self._shares[:, None], starts)
        return np.asarray(total / np.maximum(np.linalg.norm(total, axis=1, keepdims=True), 1e-9), dtype=np.float32)

    def _where(self, chosen: NDArray[np.bool_]) -> tuple[Places, Places]:
        owners = self._owners[chosen]
        return self._places[chosen], np.flatnonzero(np.diff(owners, prepend=-1))


def _of_best(scores: Floats) -> Floats:
    return scores / max(float(scores.max(initial=0.0)), 1e-9)


def _bm25(counts: Floats, lengths: Floats, weights: Floats) -> Floats:
    norms = K1 * (1.0 - B + B * lengths / max(float(lengths.mean()), 1.0))
    return np.asarray((counts * (K1 + 1.0) / (counts + norms[:, None])) @ weights)

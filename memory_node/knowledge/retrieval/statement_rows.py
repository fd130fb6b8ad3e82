"""Propositions by row, by step and by concept: the semantic graph in the form that retrieval walks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from memory_node.knowledge.retrieval.lexical_index import LexicalIndex
from memory_node.knowledge.retrieval.statement import Statement
from memory_node.knowledge.retrieval.vector_rows import NearestVectors, VectorRows
from memory_node.knowledge.text.names import name_key, names_in, spans_at, spans_of
from memory_node.knowledge.text.words import plain_words, stems

Vectors = NDArray[np.float32]
# A name's parts lead to what it names, too: "Columbus" to "Columbus, Ohio".
_LONGEST_PART = 5


class StatementRows:
    """Adds, removes and looks up; not thread-safe."""

    def __init__(self, dimension: int, nearest: NearestVectors) -> None:
        self.words = LexicalIndex()
        self.vectors = VectorRows(dimension, nearest)
        self._statements: dict[int, Statement] = {}
        self._names: dict[int, tuple[str, ...]] = {}
        self._rows: dict[str, int] = {}
        self._by_step: dict[str, list[int]] = {}
        self._by_subject: dict[str, dict[str, None]] = {}
        self._by_concept: dict[str, dict[int, None]] = {}

    def __len__(self) -> int:
        return len(self._statements)

    def __contains__(self, key: str) -> bool:
        return key in self._rows

    def add(self, statements: Sequence[Statement], vectors: Vectors | None) -> None:
        """Take over statements, each with its vector, (n, dimension); one that is known is replaced.

        vectors: None leaves them to put_vectors().
        """
        rows = []
        for statement in statements:
            if statement.key in self._rows:
                self.remove(statement.key)
            row = self.words.add(stems(f"{statement.subject} {statement.text}"))
            self._statements[row] = statement
            self._names[row] = tuple(names_in(statement.text))
            self._rows[statement.key] = row
            self._by_step.setdefault(statement.source, []).append(row)
            subject = name_key(statement.subject)
            if subject:
                self._by_subject.setdefault(subject, {})[statement.source] = None
            for concept in self._concepts(row):
                self._by_concept.setdefault(concept, {})[row] = None
            rows.append(row)
        if vectors is not None and rows:
            self.vectors.put(np.array(rows, dtype=np.int64), vectors)

    def put_vectors(self, keys: Sequence[str], vectors: Vectors) -> None:
        """Make statements findable by their meaning."""
        held = [index for index, key in enumerate(keys) if key in self._rows]
        if held:
            self.vectors.put(np.array([self._rows[keys[index]] for index in held], dtype=np.int64), vectors[held])

    def vector_of(self, key: str) -> Vectors | None:
        """Return a statement's vector (dimension,), None while it has none."""
        row = self._rows.get(key)
        if row is None:
            return None
        vector = self.vectors.of(np.array([row], dtype=np.int64))[0]
        return vector if vector.any() else None

    def remove(self, key: str) -> None:
        """Take a statement out; nothing where there is none."""
        row = self._rows.pop(key, None)
        if row is None:
            return
        statement = self._statements[row]
        self.words.remove(row)
        self.vectors.remove(row)
        of_step = self._by_step[statement.source]
        of_step.remove(row)
        if not of_step:
            del self._by_step[statement.source]
            _discard(self._by_subject, name_key(statement.subject), statement.source)
        for concept in self._concepts(row):
            _discard(self._by_concept, concept, row)
        del self._statements[row], self._names[row]

    def statement(self, row: int) -> Statement:
        """Return the statement of a row that is held."""
        return self._statements[row]

    def rows_of(self, step: str) -> Sequence[int]:
        """Return the rows of a step's propositions."""
        return self._by_step.get(step, ())

    def about(self, subject: str, most: int) -> list[str]:
        """Return up to `most` steps whose subject this is, a name's key; the oldest first."""
        return _first(self._by_subject.get(subject, {}), most)

    def mentioning(self, concept: str, most: int) -> list[int]:
        """Return up to `most` rows whose propositions mention a concept."""
        return _first(self._by_concept.get(concept, {}), most)

    def subject_count(self, subject: str) -> int:
        """Return how many steps are about it."""
        return len(self._by_subject.get(subject, ()))

    def step_count(self) -> int:
        """Return how many steps have propositions."""
        return len(self._by_step)

    def figures(self) -> tuple[int, int]:
        """Return how many nodes and edges there are: propositions, concepts and steps; mentions and provenance."""
        edges = sum(map(len, self._by_concept.values())) + len(self._statements)
        return len(self._statements) + len(self._by_concept) + len(self._by_step), edges

    def subject_of(self, step: str) -> str:
        """Return the key of what a step is about, "" for nothing."""
        held = self._by_step.get(step)
        return name_key(self._statements[held[0]].subject) if held else ""

    def named_subjects(self, step: str) -> set[str]:
        """Return the subjects that a step's propositions name, whole or as a part of a name."""
        known = self._by_subject
        found: set[str] = set()
        for row in self._by_step.get(step, ()):
            for name in self._names[row]:
                found.update(part for part in spans_of(name.split(), _LONGEST_PART) if part in known)
        return found

    def subjects_in_words(self, text: str) -> set[str]:
        """Return the subjects that a text names, in capitals or not; the longer one where one lies in another."""
        words, found, begin = plain_words(text), set(), 0
        while begin < len(words):
            named = [span for span in spans_at(words, begin) if span in self._by_subject]
            if named:
                found.add(named[-1])
            begin += len(named[-1].split()) if named else 1
        return found

    def _concepts(self, row: int) -> Iterable[str]:
        """Return what a row's proposition mentions: names route a search even where they are no tag of its own."""
        return {*self._statements[row].concepts, *self._names[row]}


def _first(held: dict, most: int) -> list:  # type: ignore[type-arg]
    return [key for key, _ in zip(held, range(most))]


def _discard(held: dict, key: str, value: object) -> None:  # type: ignore[type-arg]
    if key in held:
        held[key].pop(value, None)
        if not held[key]:
            del held[key]

"""Propositions by row, by step and by concept: the semantic graph in the form that retrieval walks."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from memory_node.knowledge.facts import Proposition
from memory_node.knowledge.retrieval.row_tables import SortedRows, StepTable
from memory_node.knowledge.text import STOP_WORDS, name_key, names_in, plain_words, spans_at, spans_of, stems
from memory_node.search.lexical_index import LexicalIndex
from memory_node.search.vector_rows import VectorRows

Vectors = NDArray[np.float32]
# A name's parts lead to what it names, too: "Columbus" to "Columbus, Ohio".
_LONGEST_PART = 5
# Stands between names in one text; no name holds it.
_BETWEEN = " ; "
NO_ROW = -1


class StatementRows:
    """Adds, removes and looks up; not thread-safe. Steps are numbers of `steps`.

    by_subject: the steps that are about a name's key. by_concept: the rows that mention a concept.
    """

    def __init__(self, dimension: int) -> None:
        self.words = LexicalIndex()
        self.vectors = VectorRows(dimension)
        self.steps = StepTable()
        self._statements: list[Proposition | None] = []
        self._step_of: list[int] = []
        self._subjects: list[str] = []
        # The names in each row's text, as one text: a name's part is looked for in it at once.
        self._names: list[str] = []
        self._rows: dict[str, int] = {}
        self.by_subject = SortedRows()
        self.by_concept = SortedRows()

    def row_of(self, key: str) -> int:
        """Return the row of a statement, NO_ROW where there is none."""
        return self._rows.get(key, NO_ROW)

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, key: str) -> bool:
        return key in self._rows

    def put_vectors(self, keys: Sequence[str], vectors: Vectors) -> int:
        """Make statements findable by their meaning, those that are held; return how many these are."""
        held = [index for index, key in enumerate(keys) if key in self._rows]
        if held:
            self.vectors.put(np.array([self._rows[keys[index]] for index in held], dtype=np.int64), vectors[held])
        return len(held)

    def vector_of(self, key: str) -> Vectors | None:
        """Return a statement's vector (dimension,), None while it has none."""
        row = self._rows.get(key)
        if row is None:
            return None
        vector = self.vectors.of(np.array([row], dtype=np.int64))[0]
        return vector if vector.any() else None

    def embedded(self) -> tuple[list[str], Vectors]:
        """Return the statements that have a vector, and these (n, dimension)."""
        rows = np.fromiter(self._rows.values(), dtype=np.int64, count=len(self._rows))
        present = self.vectors.are_present(rows)
        return list(compress(self._rows, present)), self.vectors.of(rows[present])

    def remove(self, key: str) -> None:
        """Take a statement out; nothing where there is none."""
        row = self._rows.pop(key, None)
        if row is None:
            return
        self._unlink(row, self.statement(row))
        self.words.remove(row)
        self.vectors.remove(row)
        self._statements[row], self._names[row] = None, ""

    def statement(self, row: int) -> Proposition:
        """Return the statement of a row that is held."""
        found = self._statements[row]
        assert found is not None, f"row {row} holds no statement"
        return found

    def key(self, row: int) -> str:
        """Return the key of the statement of a row that is held."""
        return self.statement(row).text

    def step_of(self, row: int) -> int:
        """Return the step that a row was first learned from."""
        return self._step_of[row]

    def rare_concepts(self, step: int, most: int) -> dict[str, int]:
        """Return what else than a name links a step: the concepts of its propositions that two to `most` rows mention,
        with how many do."""
        concepts = {one for row in self.steps.rows(step) for one in self.statement(row).concepts}
        counts = ((one, self.by_concept.count(one)) for one in concepts)
        return {one: count for one, count in counts if 2 <= count <= most}

    def figures(self) -> tuple[int, int]:
        """Return how many nodes and edges there are: propositions, concepts and steps; mentions and provenance."""
        held = len(self)
        return held + len(self.by_concept) + len(self.steps), self.by_concept.total + held

    def subject_of(self, step: int) -> str:
        """Return the key of what a step is about, "" for nothing."""
        return self._subjects[self.steps.rows(step)[0]]

    def named_subjects(self, step: int) -> set[str]:
        """Return the subjects that a step's propositions name, whole or as a part of a name."""
        known = self.by_subject
        names = (name for row in self.steps.rows(step) for name in self._names[row].split(_BETWEEN) if name)
        return {part for name in names for part in spans_of(name.split(), _LONGEST_PART) if part in known}

    def names_of(self, step: int) -> str:
        """Return the names in a step's propositions as one text, in which each stands between spaces."""
        return f" {_BETWEEN.join([self._names[row] for row in self.steps.rows(step)])} "

    def subjects_in_words(self, text: str) -> set[str]:
        """Return the subjects that a text names, in capitals or not; the longer one where one lies in another."""
        words, found, begin = plain_words(text), set(), 0
        while begin < len(words):
            named = [span for span in spans_at(words, begin) if span in self.by_subject]
            if named:
                found.add(named[-1])
            begin += len(named[-1].split()) if named else 1
        return found

    def add(self, statement: Proposition) -> None:
        """Take a statement over; one that is known is replaced, and keeps its vector. See put_vectors()."""
        row = self._rows.get(statement.text)
        known = self.statement(row) if row is not None else None
        if known is not None and known.subject != statement.subject:
            self.remove(statement.text)
            row = known = None
        if row is None:
            row = self._new_row(statement)
        if known is not None:
            # Its words and its meaning are the same; what it comes from or is about may not be.
            self._unlink(row, known)
        self._statements[row] = statement
        step = self._step_of[row] = self.steps.add(statement.sources[0], row)
        subject = self._subjects[row] = _subject_key(statement.subject) or leading_name(statement.statement)
        if subject:
            self.by_subject.add(subject, step)
        for concept in self._concepts(row, statement):
            self.by_concept.add(concept, row)

    def _new_row(self, statement: Proposition) -> int:
        said = statement.statement
        row = self.words.add(stems(f"{statement.subject} {said}"))
        if row == len(self._statements):
            self._statements.append(None)
            self._step_of.append(0)
            self._subjects.append("")
            self._names.append("")
        # A text without capitals shows no names: any of its words may be one.
        self._names[row] = " ".join(plain_words(said)) if said.islower() else _BETWEEN.join(names_in(said))
        self._rows[statement.text] = row
        return row

    def _unlink(self, row: int, statement: Proposition) -> None:
        """Take a row out of its step and its concepts."""
        step, subject = self._step_of[row], self._subjects[row]
        empty = self.steps.remove(step, row)
        if empty or all(self._subjects[other] != subject for other in self.steps.rows(step)):
            self.by_subject.discard(subject, step)
        for concept in self._concepts(row, statement):
            self.by_concept.discard(concept, row)

    def _concepts(self, row: int, statement: Proposition) -> set[str]:
        """Return what a row's proposition mentions: names route a search even where they are no tag of its own."""
        shown = self._names[row] and not statement.statement.islower()
        names = self._names[row].split(_BETWEEN) if shown else ()
        return {*statement.concepts, *names}


def leading_name(text: str) -> str:
    """Return the key of the name that a text begins with, "" for none: what a text without a title is about."""
    found = names_in(text)
    words = plain_words(text)
    while words and words[0] in STOP_WORDS:
        words = words[1:]
    return next((name for name in found if name.split() == words[: name.count(" ") + 1]), "")


def is_part_of_names(subject: str) -> bool:
    """Return whether a subject's key may stand for a name that holds it: it is short, and no stop word."""
    return bool(subject) and subject not in STOP_WORDS and subject.count(" ") < _LONGEST_PART


@lru_cache(maxsize=4096)
def _subject_key(subject: str) -> str:
    return name_key(subject)

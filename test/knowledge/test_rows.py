"""The indexes over propositions stay equal to freshly made ones, whatever comes and goes."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from memory_node.knowledge.facts import Proposition
from memory_node.knowledge.retrieval.row_tables import NO_STEP
from memory_node.knowledge.retrieval.statement_rows import StatementRows
from memory_node.search.lexical_index import LexicalIndex

DIMENSION = 8


class KeptRows(StatementRows):
    """Rows that take a statement over with its vector."""

    def __init__(self) -> None:
        super().__init__(DIMENSION)

    def add(self, statement: Proposition, vector: np.ndarray | None = None) -> None:
        super().add(statement)
        if vector is not None:
            self.put_vectors([statement.text], vector)


def statement(key: str, source: str = "s:0", subject: str = "", *concepts: str) -> Proposition:
    return Proposition(key, frozenset(concepts), (source,), subject=subject)


def vector_at(place: int) -> np.ndarray:
    vectors = np.zeros((1, DIMENSION), dtype=np.float32)
    vectors[0, place % DIMENSION] = 1.0
    return vectors


def test_statement_that_is_taken_out_leaves_nothing() -> None:
    rows = KeptRows()
    empty = rows.figures()
    rows.add(statement("Oahu is an island.", "s:0", "Hawaii", "island"), vector_at(0))
    rows.remove("Oahu is an island.")
    assert rows.figures() == empty
    assert (rows.by_subject.count("hawaii"), rows.by_concept.first("oahu", 5), len(rows.words)) == (0, [], 0)


OPERATIONS = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 4), st.booleans()), max_size=60)


@given(OPERATIONS)
def test_rows_after_any_operations_equal_freshly_made_ones(operations: list[tuple[int, int, bool]]) -> None:
    held: dict[str, Proposition] = {}
    grown = KeptRows()
    for number, source, removed in operations:
        key = f"Word{number} and Other{number % 3} stand here."
        if removed:
            grown.remove(key)
            held.pop(key, None)
        else:
            held[key] = statement(key, f"s:{source}", f"Subject{source % 2}", f"concept{number % 4}")
            grown.add(held[key], vector_at(number))
    fresh = KeptRows()
    for key, one in held.items():
        fresh.add(one, vector_at(int(key.split()[0].removeprefix("Word"))))
    assert grown.figures() == fresh.figures()
    for concept in ("concept0", "concept1", "other2", "word3"):
        assert keys_of(grown, concept) == keys_of(fresh, concept)
    for index in range(5):
        assert around(grown, f"s:{index}") == around(fresh, f"s:{index}")
    words = ["word1", "word2", "other0", "stand"]
    assert found(grown, words) == found(fresh, words)


def keys_of(rows: StatementRows, concept: str) -> set[str]:
    return {rows.statement(row).text for row in rows.by_concept.all(concept)}


def around(rows: StatementRows, source: str) -> list[str]:
    step = rows.steps.number(source)
    return [] if step == NO_STEP else [rows.steps.name(n) if n != NO_STEP else "" for n in rows.steps.around(step)]


def found(rows: StatementRows, words: list[str]) -> dict[str, float]:
    places, scores = rows.words.search(words, 50)
    assert np.array_equal(rows.words.counts_of(places, words).any(axis=1), np.ones(len(places), dtype=bool))
    return {rows.statement(row).text: round(float(score), 9) for row, score in zip(places.tolist(), scores)}


def test_counts_of_rows_are_those_of_their_words() -> None:
    index = LexicalIndex()
    rows = [index.add(text.split()) for text in ("a b a", "c", "", "b b b")]
    assert index.counts_of(np.array(rows), ["b", "zz", "a"]).tolist() == [[1, 0, 2], [0, 0, 0], [0, 0, 0], [3, 0, 0]]
    assert index.lengths_of(np.array(rows)).tolist() == [3, 1, 0, 3]

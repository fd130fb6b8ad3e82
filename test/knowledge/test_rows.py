"""The indexes over propositions stay equal to freshly made ones, whatever comes and goes."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from memory_node.knowledge.facts import Proposition
from memory_node.knowledge.retrieval.row_tables import NO_STEP, SortedRows, StepTable
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


def test_statement_with_new_sources_keeps_its_row_and_its_vector() -> None:
    rows = KeptRows()
    rows.add(statement("The mug is red.", "s:0", "", "mug"), vector_at(3))
    (before,) = rows.by_concept.first("mug", 5)
    rows.add(statement("The mug is red.", "t:4", "", "mug", "red"))
    assert rows.by_concept.first("mug", 5) == rows.by_concept.first("red", 5) == [before]
    assert rows.vector_of("The mug is red.") is not None
    assert rows.steps.number("s:0") == NO_STEP
    assert rows.steps.name(rows.step_of(before)) == "t:4"


def test_statement_that_is_taken_out_leaves_nothing() -> None:
    rows = KeptRows()
    empty = rows.figures()
    rows.add(statement("Oahu is an island.", "s:0", "Hawaii", "island"), vector_at(0))
    rows.remove("Oahu is an island.")
    assert rows.figures() == empty
    assert (rows.by_subject.count("hawaii"), rows.by_concept.first("oahu", 5), len(rows.words)) == (0, [], 0)


def test_rows_are_given_again_so_that_a_long_life_needs_no_more_memory() -> None:
    rows = KeptRows()
    for number in range(500):
        rows.add(statement(f"Thing {number} was seen.", f"s:{number}", "", "seen"), vector_at(number))
        if number >= 10:
            rows.remove(f"Thing {number - 10} was seen.")
    assert len(rows) == 10
    held = rows.by_concept.all("seen")
    assert len(held) == 10
    assert max(*held, *map(rows.step_of, held)) <= 10


def test_name_in_a_longer_name_leads_to_its_subject() -> None:
    rows = KeptRows()
    rows.add(statement("She met Ivo Quill at noon.", "a:0"))
    rows.add(statement("He was born at Zadar.", "b:0", "Quill"))
    step = rows.steps.number("a:0")
    assert rows.named_subjects(step) == {"quill"}
    assert " quill " in rows.names_of(step)


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


def test_sorted_rows_count_what_they_hold() -> None:
    held = SortedRows()
    for row in (5, 2, 9, 2):
        held.add("a", row)
    held.discard("a", 7)
    held.discard("b", 1)
    assert (held.first("a", 2), held.all("a"), held.total) == ([2, 5], [2, 5, 9], 3)
    for row in (2, 5, 9):
        held.discard("a", row)
    assert ("a" in held, held.total, len(held)) == (False, 0, 0)


def test_step_between_two_others_is_their_neighbour_while_it_holds_something() -> None:
    steps = StepTable()
    first, third = steps.add("talk:0", 0), steps.add("talk:2", 1)
    second = steps.add("talk:1", 2)
    assert list(steps.around(first)) == [NO_STEP, second, NO_STEP, third]
    assert steps.remove(second, 2)
    assert list(steps.around(first)) == [NO_STEP, NO_STEP, NO_STEP, third]

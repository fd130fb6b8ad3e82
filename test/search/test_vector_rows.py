"""Nearest vectors: exactly among few, by sketches among many."""

import threading

import numpy as np
import pytest
from numpy.typing import NDArray

from memory_node.search import vector_rows
from memory_node.search.vector_rows import VectorRows, ones_in


def unit_vectors(count: int, dimension: int, seed: int = 0) -> NDArray[np.float32]:
    """Return vectors around forty centres, as sentences lie around topics."""
    generator = np.random.default_rng(seed)
    centres = np.random.default_rng(99).standard_normal((40, dimension))
    vectors = centres[generator.integers(0, 40, count)] + generator.standard_normal((count, dimension))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def test_vectors_grow_and_go() -> None:
    rows = VectorRows(4)
    unit = np.eye(4, dtype=np.float32)
    rows.put(np.array([0, 700]), unit[:2])
    assert rows.search(unit[1], 1)[0].tolist() == [700]
    rows.remove(700)
    assert rows.search(unit[1], 2)[0].tolist() == [0]
    assert not rows.of(np.array([700, 100_000])).any()
    assert len(rows) == 1


def test_row_that_gets_another_vector_is_found_by_that_alone() -> None:
    rows = VectorRows(4)
    unit = np.eye(4, dtype=np.float32)
    rows.put(np.array([3]), unit[:1])
    rows.put(np.array([3]), unit[2:3])
    found, cosines = rows.search(unit[2], 5)
    assert found.tolist() == [3]
    assert cosines == pytest.approx([1.0])
    assert len(rows) == 1


def test_kept_vectors_are_right_to_a_hundredth_of_their_length() -> None:
    vectors = unit_vectors(50, 384)
    rows = VectorRows(384)
    rows.put(np.arange(50), vectors)
    assert np.linalg.norm(rows.of(np.arange(50)) - vectors, axis=1).max() < 0.01


@pytest.mark.parametrize("looked_at", [65_536, 300])
def test_search_among_many_finds_nearly_all_of_the_nearest(monkeypatch: pytest.MonkeyPatch, looked_at: int) -> None:
    """With the share of a hundred thousand rows: a fiftieth is compared, of so many more that the first words of
    their sketches are alike."""
    monkeypatch.setattr(vector_rows, "COMPARED", 80)
    monkeypatch.setattr(vector_rows, "LOOKED_AT", looked_at)
    monkeypatch.setattr(vector_rows, "_FIRST_WORDS", 1)
    vectors, questions = unit_vectors(4000, 128), unit_vectors(40, 128, seed=1)
    rows = VectorRows(128)
    for begin in range(0, 4000, 250):
        rows.put(np.arange(begin, begin + 250), vectors[begin : begin + 250])
    gone = set(range(0, 4000, 7))
    for row in gone:
        rows.remove(row)
    shares = []
    for question in questions:
        cosines = vectors @ question
        nearest = [row for row in np.argsort(-cosines).tolist() if row not in gone][:5]
        found = rows.search(question, 5)[0].tolist()
        assert not gone.intersection(found)
        shares.append(len(set(nearest).intersection(found)) / 5)
    assert np.mean(shares) > 0.85


def test_bits_are_counted_alike_by_old_and_new_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    words = np.array([0, 1, 2**64 - 1, 5, 2**40], dtype=np.uint64)
    monkeypatch.delattr(np, "bitwise_count", raising=False)
    assert ones_in(words).tolist() == [0, 1, 64, 2, 1]
    monkeypatch.undo()
    assert ones_in(words).tolist() == [0, 1, 64, 2, 1]


def test_rows_are_compared_beside_a_writer() -> None:
    rows, vectors = VectorRows(32), unit_vectors(2000, 32)
    rows.put(np.array([0]), vectors[:1])

    def write() -> None:
        for row in range(1, 2000):
            rows.put(np.array([row]), vectors[row : row + 1])

    writer = threading.Thread(target=write)
    writer.start()
    while writer.is_alive():
        assert rows.cosines(vectors[0])[0] == pytest.approx(1.0, abs=0.01)
    writer.join()
    assert rows.cosines(vectors[1999])[1999] == pytest.approx(1.0, abs=0.01)
    assert rows.cosines(vectors[0])[2000:].tolist() == [0.0] * (len(rows.cosines(vectors[0])) - 2000)

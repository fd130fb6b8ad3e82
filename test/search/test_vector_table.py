import threading

import numpy as np
import pytest

from memory_node.search.vector_table import VectorTable


def unit_vectors(count, dimension=32, seed=0):
    vectors = np.random.default_rng(seed).standard_normal((count, dimension)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def test_each_row_is_compared_by_its_last_vector_and_others_are_like_nothing():
    table, vectors = VectorTable(32), unit_vectors(300)
    for row in range(0, 300, 2):
        table.put(row, vectors[0])
        table.put(row, vectors[row])
    rows = np.array([0, 8, 298, 9, 5000])
    expected = [1.0, float(vectors[8] @ vectors[0]), float(vectors[298] @ vectors[0]), 0.0, 0.0]
    assert table.cosines_of(rows, vectors[0]).tolist() == pytest.approx(expected, abs=1e-5)
    assert table.cosines(vectors[0])[rows[:4]].tolist() == pytest.approx(expected[:4], abs=1e-5)


def test_rows_are_compared_beside_a_writer():
    table, vectors = VectorTable(32), unit_vectors(2000)
    table.put(0, vectors[0])
    writer = threading.Thread(target=lambda: [table.put(row, vectors[row]) for row in range(1, 2000)])
    writer.start()
    while writer.is_alive():
        assert table.cosines(vectors[0])[0] == pytest.approx(1.0, abs=1e-5)
    writer.join()
    assert table.cosines_of(np.array([1999]), vectors[1999])[0] == pytest.approx(1.0, abs=1e-5)

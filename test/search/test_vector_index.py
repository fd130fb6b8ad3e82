import threading

import numpy as np
import pytest

from memory_node.domain.errors import InvalidValueError
from memory_node.search.vector_index import VectorIndex


def unit_vectors(count, dimension=32, seed=0):
    vectors = np.random.default_rng(seed).standard_normal((count, dimension)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def rows(*numbers):
    return np.array(numbers, dtype=np.int64)


@pytest.mark.parametrize("step", [1, 50])
@pytest.mark.parametrize("exact_below", [10_000, 300, 10])
def test_search_finds_the_nearest_through_additions_and_removals(exact_below, step):
    rng = np.random.default_rng(1)
    vectors = unit_vectors(600)
    index = VectorIndex(32, exact_below=exact_below)
    held = {}
    for start in range(0, 600, step):
        numbers = np.arange(start, start + step)
        index.add(numbers, vectors[numbers])
        held.update({row: vectors[row] for row in numbers.tolist()})
        for row in rng.choice(sorted(held), step // 4, replace=False).tolist():
            assert index.remove(row)
            del held[row]
        if step == 1 and start % 5 == 4:
            # Some change their vector while the graph is being filled, others leave.
            changed, leaving = rng.choice(sorted(held), 2, replace=False).tolist()
            held[changed] = unit_vectors(1, seed=start)[0]
            index.add(rows(changed), held[changed][None])
            index.remove(leaving)
            del held[leaving]
        assert len(index) == len(held)
    assert index.is_exact == (exact_below > 600)
    agreed = 0
    for query in unit_vectors(40, seed=2):
        cosines = {row: float(vector @ query) for row, vector in held.items()}
        best = sorted(cosines, key=cosines.get, reverse=True)[:5]
        found, found_cosines = index.search(query, 5)
        agreed += len(set(found.tolist()) & set(best))
        assert found_cosines.tolist() == sorted(found_cosines.tolist(), reverse=True)
        np.testing.assert_allclose(found_cosines, [cosines[row] for row in found.tolist()], atol=5e-3)
        np.testing.assert_allclose(index.cosines_of(found, query), found_cosines, atol=5e-3)
    assert agreed >= 0.98 * 200
    assert not index.remove(4711)


def test_empty_and_small_indexes_answer_with_what_there_is():
    index = VectorIndex(32)
    query = unit_vectors(1)[0]
    assert index.search(query, 3)[0].tolist() == []
    index.add(rows(90), unit_vectors(1))
    found, cosines = index.search(query, 3)
    assert found.tolist() == [90]
    assert cosines[0] == pytest.approx(1.0, abs=1e-5)
    assert index.cosines_of(rows(90, 3, 5000), query).tolist() == pytest.approx([1.0, 0.0, 0.0], abs=1e-5)
    index.remove(90)
    assert index.search(query, 3)[0].tolist() == []
    with pytest.raises(InvalidValueError, match="expected"):
        index.add(rows(1), unit_vectors(1, dimension=8))


def test_what_left_is_passed_over_until_the_graph_is_made_anew():
    index = VectorIndex(32, exact_below=50)
    vectors = unit_vectors(3000)
    index.add(np.arange(100), vectors[:100])
    graphs, held = [index._graph], dict(enumerate(vectors[:100]))
    for step in range(100, 3000):
        row = step * 7 % 100
        index.add(rows(row), vectors[step][None])
        held[row] = vectors[step]
        if step % 10 == 0:
            assert index.remove((row + 1) % 100) == (held.pop((row + 1) % 100, None) is not None)
        if index._graph is not graphs[-1]:  # kept alive: a freed graph's address may be used again
            graphs.append(index._graph)
        assert index._stale <= 2 * len(index) + 10, "it does not only grow"
        if step % 100 == 0:
            found, cosines = index.search(vectors[step], 5)
            best = sorted(held, key=lambda row: -float(held[row] @ vectors[step]))[:5]
            assert found.tolist() == best
            np.testing.assert_allclose(cosines, [held[row] @ vectors[step] for row in best], atol=5e-3)
    assert len(graphs) > 3
    for row in list(held):
        assert index.remove(row)
    assert index.search(vectors[0], 3)[0].tolist() == []
    assert len(index) == 0


@pytest.mark.parametrize("exact_below", [10_000, 100])
def test_readers_do_not_wait_for_a_writer(exact_below):
    index = VectorIndex(32, exact_below=exact_below)
    index.add(np.arange(200), unit_vectors(200))
    with index._lock:  # a writer in the middle of its work
        assert len(index.search(unit_vectors(1)[0], 5)[0]) == 5
        assert len(index.cosines_of(rows(1, 2), unit_vectors(1)[0])) == 2


def test_search_beside_a_writer_finds_what_stays():
    index = VectorIndex(32, exact_below=150)
    vectors = unit_vectors(600)
    index.add(np.arange(100), vectors[:100])
    done = threading.Event()

    def write():
        for row in range(100, 600):
            index.add(rows(row), vectors[row][None])
            if row % 3 == 0:
                index.remove(row)
        done.set()

    writer = threading.Thread(target=write)
    writer.start()
    searches = 0
    while not done.is_set() or searches < 100:
        row = searches % 100
        assert index.search(vectors[row], 3)[0][0] == row
        searches += 1
    writer.join()
    assert not index.is_exact

import numpy as np
import pytest

from memory_node.domain.errors import InvalidValueError
from memory_node.retrieval.vector_index import VectorIndex


def unit_vectors(count, dimension=32, seed=0):
    vectors = np.random.default_rng(seed).standard_normal((count, dimension)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.mark.parametrize("exact_below", [10_000, 10])
def test_search_finds_the_nearest_through_additions_and_removals(exact_below):
    rng = np.random.default_rng(1)
    vectors = unit_vectors(600)
    index = VectorIndex(32, exact_below=exact_below)
    held = {}
    for start in range(0, 600, 50):
        index.add([f"u{row}" for row in range(start, start + 50)], vectors[start : start + 50])
        held.update({f"u{row}": vectors[row] for row in range(start, start + 50)})
        for id_ in rng.choice(sorted(held), 15, replace=False):
            assert index.remove(id_)
            del held[id_]
    assert index.is_exact == (exact_below > 600)
    assert len(index) == len(held)
    moved = next(iter(held))
    held[moved] = unit_vectors(1, seed=5)[0]
    index.add([moved], held[moved][None])
    agreed = 0
    for query in unit_vectors(40, seed=2):
        cosines = {id_: float(vector @ query) for id_, vector in held.items()}
        best = sorted(cosines, key=cosines.get, reverse=True)[:5]
        found = index.search(query, 5)
        agreed += len({id_ for id_, _ in found} & set(best))
        assert [cosine for _, cosine in found] == sorted((cosine for _, cosine in found), reverse=True)
        for id_, cosine in found:
            assert cosine == pytest.approx(cosines[id_], abs=5e-3)
    assert agreed >= 0.98 * 200
    assert not index.remove("nobody")


def test_empty_and_small_indexes_answer_with_what_there_is():
    index = VectorIndex(32)
    assert index.search(unit_vectors(1)[0], 3) == []
    index.add(["only"], unit_vectors(1))
    found = index.search(unit_vectors(1)[0], 3)
    assert [id_ for id_, _ in found] == ["only"]
    assert found[0][1] == pytest.approx(1.0, abs=1e-5)
    index.remove("only")
    assert index.search(unit_vectors(1)[0], 3) == []
    with pytest.raises(InvalidValueError, match="expected"):
        index.add(["x"], unit_vectors(1, dimension=8))

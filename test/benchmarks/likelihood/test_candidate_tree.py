import numpy as np
import pytest

from benchmarks.likelihood.candidate_tree import candidate_tree, log_probabilities, portions


def test_portions_keep_to_branches_and_nodes_and_lose_nobody() -> None:
    candidates = [[1, 2, 3], [4], [1, 2, 5], [6, 7], [1, 8]]
    parts = portions(candidates, most_branches=2, most_nodes=4)
    assert sorted(index for part in parts for index in part) == [0, 1, 2, 3, 4]
    for part in parts:
        assert len(part) <= 2
        assert len(candidate_tree([candidates[i] for i in part]).nodes) <= 4


def test_log_probabilities_are_those_of_a_softmax_even_far_from_zero() -> None:
    logits = np.array([1000.0, 1000.0, -1000.0], dtype=np.float32)
    assert log_probabilities(logits, [0, 1]) == pytest.approx([np.log(0.5)] * 2)

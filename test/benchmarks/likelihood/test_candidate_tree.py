import numpy as np
import pytest

from benchmarks.likelihood.candidate_tree import candidate_tree, log_probabilities, portions


def test_shared_beginnings_are_one_node() -> None:
    tree = candidate_tree([[1, 2, 3], [1, 2, 4], [1, 2], [5]])
    assert [(node.token, node.parent, node.depth) for node in tree.nodes] == [
        (1, -1, 0),
        (5, -1, 0),
        (2, 0, 1),
        (3, 2, 2),
        (4, 2, 2),
    ]
    assert tree.nodes[2].branches == (0, 1, 2)
    assert tree.ends == (3, 4, 2, 1)


def test_likelihood_of_a_candidate_is_the_sum_along_its_way() -> None:
    tree = candidate_tree([[1, 2, 3], [1, 2, 4], [1, 2], [5]])
    assert tree.log_likelihoods(np.array([-1.0, -2.0, -4.0, -8.0, -16.0])) == [-13.0, -21.0, -5.0, -2.0]


def test_children_are_told_by_their_parent() -> None:
    assert candidate_tree([[1, 2], [1, 3], [5]]).children == {-1: [0, 1], 0: [2, 3]}


def test_chain_goes_on_while_there_is_one_way_and_something_follows() -> None:
    tree = candidate_tree([[1, 2, 3, 4], [1, 2, 3, 5], [6, 7, 8]])
    assert [[tree.nodes[node].token for node in tree.chain(start)] for start in (0, 1)] == [[1, 2, 3], [6, 7]]


def test_same_candidate_twice_is_scored_twice() -> None:
    tree = candidate_tree([[1], [1]])
    assert tree.log_likelihoods(np.array([-3.0])) == [-3.0, -3.0]


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

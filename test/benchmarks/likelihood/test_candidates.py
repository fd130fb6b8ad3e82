"""The best candidate is found without reading what cannot be part of it."""

import numpy as np
import pytest

from benchmarks.likelihood import candidate_tree, likeliest, log_probabilities, portions


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


@pytest.mark.parametrize("seed", range(20))
def test_best_of_all_is_found(seed: int) -> None:
    chance = np.random.default_rng(seed)
    candidates = list({tuple(chance.integers(0, 4, chance.integers(1, 6)).tolist()) for _ in range(30)})
    bonuses = chance.uniform(-5, 0, len(candidates)).tolist()
    tree = candidate_tree(candidates)
    scores = np.log(chance.uniform(0.01, 1.0, len(tree.nodes)))
    read: list[int] = []

    def expand(node):
        assert node == -1 or tree.nodes[node].parent in read
        read.append(node)
        return scores[tree.children[node]]

    number, score = likeliest(tree, bonuses, expand)
    totals = tree.log_likelihoods(scores)
    assert number == int(np.argmax(np.add(totals, bonuses)))
    assert score == pytest.approx(totals[number])
    assert len(read) == len(set(read))


def test_what_is_unlikely_is_not_read() -> None:
    tree = candidate_tree([(1, 2, 3), *((9, number, 5, 6) for number in range(20))])
    read: list[int] = []

    def expand(node):
        read.append(node)
        return np.array([-0.1 if tree.nodes[i].token in (1, 2, 3) else -5.0 for i in tree.children[node]])

    assert likeliest(tree, [0.0] * 21, expand)[0] == 0
    assert read == [-1, 0, 2]

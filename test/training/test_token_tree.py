"""Texts packed for one pass: what they share is there once, and each sees what leads to it alone."""

import pytest

pytest.importorskip("torch", reason="needs the extra learning")

import torch

from training.optimizer.policy import token_tree

BEGINNING, TEXTS = (7, 8), [(1, 2, 3), (1, 2, 4), (5,), (1, 2, 3)]


def test_each_token_sees_what_leads_to_it_and_nothing_else() -> None:
    tree = token_tree(BEGINNING, TEXTS)
    for text, before in zip(TEXTS, tree.before, strict=True):
        read = (*BEGINNING, *text)
        for number, place in enumerate(before.tolist()):
            led = tree.tokens[tree.seen[place]]
            assert led.tolist() == list(read[: len(BEGINNING) + number])
            assert tree.positions[place] == len(led) - 1
    mask = tree.attention_mask[0, 0]
    assert torch.equal(mask == 0.0, tree.seen)

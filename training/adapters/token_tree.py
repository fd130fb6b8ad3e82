"""Texts behind one beginning, packed for one pass of a model: what several of them share is read once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from benchmarks.likelihood.candidate_tree import candidate_tree


@dataclass(frozen=True)
class TokenTree:
    """tokens, positions: (n,), of the beginning and then of the texts, each token once for all texts that agree up to
    it. seen: (n, n), whether a token sees another one: itself, and those that lead to it. before: for each text the
    places in `tokens` behind which its tokens stand."""

    tokens: Tensor
    positions: Tensor
    seen: Tensor
    before: tuple[Tensor, ...]

    @property
    def attention_mask(self) -> Tensor:
        """What is added to attention logits, (1, 1, n, n): 0 where a token is seen, -inf where not."""
        return torch.zeros(self.seen.shape).masked_fill(~self.seen, float("-inf"))[None, None]


def token_tree(beginning: Sequence[int], texts: Sequence[Sequence[int]]) -> TokenTree:
    """Return some texts behind one beginning, each of one token at least."""
    tree, first = candidate_tree(texts), len(beginning)
    tokens = [*beginning, *(node.token for node in tree.nodes)]
    parents = [*range(-1, first - 1), *(first + node.parent if node.parent >= 0 else first - 1 for node in tree.nodes)]
    seen = torch.eye(len(tokens), dtype=torch.bool)
    for place, parent in enumerate(parents[1:], 1):
        seen[place] |= seen[parent]
    before = []
    for text, end in zip(texts, tree.ends):
        path = [parents[first + end]]
        while len(path) < len(text):
            path.append(parents[path[-1]])
        before.append(torch.tensor(path[::-1]))
    return TokenTree(torch.tensor(tokens), seen.sum(1) - 1, seen, tuple(before))

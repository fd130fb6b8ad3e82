"""Candidate replies as a tree of tokens: beginnings that they share are read once."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class TreeNode:
    """A token of one or more candidates. parent: index of the node before it, -1 at the prompt's last token.

    depth: its position behind the prompt, from 0.
    """

    token: int
    parent: int
    depth: int
    branches: tuple[int, ...]


@dataclass(frozen=True)
class CandidateTree:
    """Candidates as a tree of tokens. ends: for each candidate its last node."""

    nodes: tuple[TreeNode, ...]
    ends: tuple[int, ...]

    @functools.cached_property
    def children(self) -> Mapping[int, list[int]]:
        """The nodes behind each node that has any, in their order; those at the prompt's end are behind -1."""
        found: dict[int, list[int]] = {}
        for index, node in enumerate(self.nodes):
            found.setdefault(node.parent, []).append(index)
        return found

    def chain(self, node: int) -> list[int]:
        """Return a node that has children, and those behind it as long as there is one only, which has some, too."""
        children, chain = self.children, [node]
        while len(children[chain[-1]]) == 1 and children[chain[-1]][0] in children:
            chain += children[chain[-1]]
        return chain

    def log_likelihoods(self, node_scores: NDArray[np.float64]) -> list[float]:
        """Return for each candidate the sum over its nodes. node_scores: (nodes,) log-probability of each token."""
        totals = np.zeros(len(self.nodes))
        for index, node in enumerate(self.nodes):  # parents come before their children
            totals[index] = node_scores[index] + (totals[node.parent] if node.parent >= 0 else 0.0)
        return [float(totals[end]) for end in self.ends]


def candidate_tree(candidates: Sequence[Sequence[int]]) -> CandidateTree:
    """Return the tree of candidates, each of one token at least, ordered by depth."""
    branches: dict[tuple[int, ...], list[int]] = {}
    for branch, candidate in enumerate(candidates):
        for end in range(1, len(candidate) + 1):
            branches.setdefault(tuple(candidate[:end]), []).append(branch)
    paths = sorted(branches, key=len)
    index = {path: number for number, path in enumerate(paths)}
    nodes = tuple(TreeNode(p[-1], index.get(p[:-1], -1), len(p) - 1, tuple(branches[p])) for p in paths)
    return CandidateTree(nodes, tuple(index[tuple(candidate)] for candidate in candidates))


def portions(candidates: Sequence[Sequence[int]], most_branches: int, most_nodes: int) -> list[list[int]]:
    """Return indices of candidates in portions, each with so many candidates and nodes of their tree at most."""
    portions: list[list[int]] = []
    order = sorted(range(len(candidates)), key=lambda i: tuple(candidates[i]))  # what shares a beginning comes together
    paths: set[tuple[int, ...]] = set()
    for i in order:
        added = {tuple(candidates[i][:end]) for end in range(1, len(candidates[i]) + 1)}
        if not portions or len(portions[-1]) == most_branches or len(paths | added) > most_nodes:
            portions.append([])
            paths = set()
        portions[-1].append(i)
        paths |= added
    return portions


def log_probabilities(logits: NDArray[np.float32], tokens: Sequence[int]) -> NDArray[np.float64]:
    """Return log p(token) of each token. logits: (vocabulary,)."""
    highest = float(logits.max())
    total = highest + float(np.log(np.exp(logits - np.float32(highest)).sum(dtype=np.float64)))
    return np.asarray(logits[list(tokens)], dtype=np.float64) - total

"""Reads a tree of candidates behind a prompt, each as a sequence of its own that shares the prompt's cells."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks.likelihood.candidate_tree import CandidateTree, log_probabilities
from memory_node.llm.chat import Deadline
from memory_node.llm.llama.engine import FIRST_FREE, PROMPT
from memory_node.llm.llama.native import PASS_TOKENS, NativeModel, Row

# Reads a node (-1: the prompt's last token) and returns the log-probabilities of its children, in their order.
Expand = Callable[[int], NDArray[np.float64]]


def likeliest(tree: CandidateTree, bonuses: Sequence[float], expand: Expand) -> tuple[int, float]:
    """Return the candidate with the highest log-likelihood plus bonus, and its log-likelihood; exact.

    The beginning of a candidate is at least as likely as the candidate. So a node's log-likelihood plus the best bonus
    behind it bounds every candidate behind it. One node is read at a time: a pass over four takes three times as long,
    and most of what it would read ahead is never needed. expand: a node's parent was read before it.
    """
    children = tree.children
    most = [max(bonuses[branch] for branch in node.branches) for node in tree.nodes]
    ending: dict[int, list[int]] = {}
    for candidate, end in enumerate(tree.ends):
        ending.setdefault(end, []).append(candidate)
    frontier: list[tuple[float, int, float]] = []  # (-what it can be worth, node, log-likelihood up to it)
    best, best_worth, best_score = -1, -math.inf, 0.0

    def grow(node: int, total: float) -> None:
        for child, score in zip(children[node], expand(node)):
            reached = total + float(score)
            heapq.heappush(frontier, (-(reached + most[child]), child, reached))

    grow(-1, 0.0)
    while frontier and -frontier[0][0] > best_worth:
        _, node, total = heapq.heappop(frontier)
        for candidate in ending.get(node, ()):
            if total + bonuses[candidate] > best_worth:
                best, best_worth, best_score = candidate, total + bonuses[candidate], total
        if node in children:
            grow(node, total)
    return best, best_score


class CandidateReading:
    """One tree behind a prompt. A context manager: afterwards the candidates' sequences are gone.

    Args:
        native: the model.
        start: tokens of the prompt, which was read.
        tree: its last nodes are never read, because nothing follows them.
        behind: (vocabulary,) logits behind the prompt's last token.
        deadline: of all reading.
    """

    def __init__(
        self,
        native: NativeModel,
        start: int,
        tree: CandidateTree,
        behind: NDArray[np.float32],
        deadline: Deadline,
    ) -> None:
        self._native = native
        self._start = start
        self._tree = tree
        self._children = tree.children
        self._branches = range(FIRST_FREE, FIRST_FREE + len(tree.ends))
        self._deadline = deadline
        # log-probabilities of a node's children, in their order, for each node that was read
        self._known = {-1: log_probabilities(behind, self._tokens(self._children[-1]))}

    def __enter__(self) -> CandidateReading:
        for branch in self._branches:
            self._native.share(PROMPT, branch, self._start)
        return self

    def __exit__(self, *_: object) -> None:
        for branch in self._branches:
            self._native.cut(branch, 0)

    def scores(self) -> list[float]:
        """Return log p(candidate | prompt) of each.

        Raises:
            LateError: the deadline passed.
        """
        inner = [node for node in self._children if node >= 0]
        for start in range(0, len(inner), PASS_TOKENS):
            self._read(inner[start : start + PASS_TOKENS])
        scores = np.zeros(len(self._tree.nodes))
        for node, children in self._children.items():
            scores[children] = self._known[node]
        return self._tree.log_likelihoods(scores)

    def likeliest(self, bonuses: Sequence[float]) -> tuple[int, float]:
        """Return the candidate with the highest log p plus bonus, and its log p; reads only what may be part of it.

        Raises:
            LateError: the deadline passed.
        """
        return likeliest(self._tree, bonuses, self._expand)

    def _expand(self, node: int) -> NDArray[np.float64]:
        if node not in self._known:
            # What has a single successor is read with it: two tokens in one pass cost less than in two.
            self._read(self._tree.chain(node)[:PASS_TOKENS])
        return self._known[node]

    def _read(self, nodes: Sequence[int]) -> None:
        """Read nodes; what stands before them was read, or is among them and comes first."""
        self._deadline.left_s()
        for node, logits in zip(nodes, self._native.compute([self._row(node) for node in nodes])):
            self._known[node] = log_probabilities(logits, self._tokens(self._children[node]))

    def _row(self, number: int) -> Row:
        node = self._tree.nodes[number]
        sequences = tuple(self._branches[branch] for branch in node.branches)
        return node.token, self._start + node.depth, sequences, True

    def _tokens(self, nodes: Sequence[int]) -> list[int]:
        return [self._tree.nodes[node].token for node in nodes]

"""Finds the likeliest candidate of a tree by best-first search, without reading unlikely branches."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks.likelihood.candidate_tree import CandidateTree

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

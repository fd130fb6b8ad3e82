"""`bench knowledge --update`: how much smaller a graph gets when statements that say the same are merged."""

from __future__ import annotations

import time
from collections import Counter
from itertools import combinations
from typing import Any

from benchmarks.knowledge_cases import Dataset
from benchmarks.knowledge_rankers import NoLog
from memory_node.domain.ports import TextEmbedder
from memory_node.knowledge.facts import Proposition
from memory_node.knowledge.knowledge_graph import KnowledgeGraph


def update_row(dataset: Dataset, embedder: TextEmbedder) -> dict[str, Any]:
    """Return the figures before the update and how they change, as shares of them.

    pairs: of concepts that a proposition mentions together. candidates: propositions that share a concept with one, in
    the mean.
    """
    before: Counter[str] = Counter()
    after: Counter[str] = Counter()
    replaced, update_s = 0, 0.0
    for collection in dataset.collections:
        graph = KnowledgeGraph(embedder, NoLog())
        graph.add(collection.steps)
        graph.embed_statements()
        before += _figures(graph.propositions())
        started = time.perf_counter()
        replaced += graph.update()
        update_s += time.perf_counter() - started
        after += _figures(graph.propositions())
    row: dict[str, Any] = {"dataset": dataset.name, "replaced": replaced, "update_s": update_s}
    for name in ("nodes", "edges", "pairs"):
        row |= {name: before[name], f"{name}_change": after[name] / max(1, before[name]) - 1.0}
    means = [figures["shared"] / max(1, figures["propositions"]) for figures in (before, after)]
    return row | {"candidates_mean": means[0], "candidates_change": means[1] / max(means[0], 1e-9) - 1.0}


def _figures(propositions: list[Proposition]) -> Counter[str]:
    mentions = Counter(concept for one in propositions for concept in one.concepts)
    pairs = {pair for one in propositions for pair in combinations(sorted(one.concepts), 2)}
    sources = {source for one in propositions for source in one.sources}
    edges = sum(mentions.values()) + sum(len(one.sources) for one in propositions)
    # A proposition is a candidate once for each concept that it shares.
    shared = sum(count * (count - 1) for count in mentions.values())
    nodes = len(propositions) + len(mentions) + len(sources)
    return Counter(nodes=nodes, edges=edges, pairs=len(pairs), shared=shared, propositions=len(propositions))

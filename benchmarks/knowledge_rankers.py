"""The methods that `bench knowledge` compares: each ranks the passages of a collection for a question."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.knowledge_cases import Collection
from memory_node.domain.ports import TextEmbedder
from memory_node.knowledge.config import KnowledgeConfig
from memory_node.knowledge.extraction import ReadStep, read_by_rules
from memory_node.knowledge.knowledge_graph import KnowledgeGraph
from memory_node.knowledge.knowledge_nodes import Source
from memory_node.search.lexical_index import LexicalIndex
from memory_node.search.request_words import content_tokens

# Of reciprocal-rank fusion (Cormack, Clarke and Buettcher 2009).
_RRF = 60.0
DEEPEST = 10

# Ranks passages for (the question's number, its text), best first.
Rank = Callable[[int, str], Sequence[int]]


@dataclass(frozen=True)
class Ranker:
    """A built method. nodes, edges: of its graph, 0 where it has none."""

    rank: Rank
    nodes: int = 0
    edges: int = 0


class NoLog:
    """Keeps nothing: what is measured is not kept."""

    def put_documents(self, kind: str, documents: Sequence[tuple[str, dict[str, object], tuple[Source, ...]]]) -> None:
        """Keep nothing."""

    def remove_documents(self, kind: str, ids: Sequence[str]) -> None:
        """Have nothing to drop."""


def build(method: str, collection: Collection, embedder: TextEmbedder, seed: int) -> Ranker:
    """Return a method over a collection; its time is the method's build time."""
    return _BUILDERS[method](collection, embedder, seed)


def _bm25(collection: Collection, embedder: TextEmbedder, seed: int) -> Ranker:
    index = LexicalIndex.of(map(content_tokens, collection.passages))
    return Ranker(lambda _, question: best_first(index.shares(content_tokens(question))))


def _dense(collection: Collection, embedder: TextEmbedder, seed: int) -> Ranker:
    vectors = embedder.embed(collection.passages)
    return Ranker(lambda _, question: best_first(vectors @ embedder.embed([question])[0]))


def _fused(collection: Collection, embedder: TextEmbedder, seed: int) -> Ranker:
    index, vectors = LexicalIndex.of(map(content_tokens, collection.passages)), embedder.embed(collection.passages)

    def rank(_: int, question: str) -> Sequence[int]:
        ranks = (index.shares(content_tokens(question)), vectors @ embedder.embed([question])[0])
        fused = np.zeros(len(collection.passages))
        for scores in ranks:
            fused[np.argsort(-scores, kind="stable")] += 1.0 / (_RRF + 1.0 + np.arange(len(fused)))
        return best_first(fused)

    return Ranker(rank)


def _knowledge(
    collection: Collection,
    embedder: TextEmbedder,
    seed: int,
    hops: int | None = None,
    update: bool = False,
    read: ReadStep | None = None,
) -> Ranker:
    graph = KnowledgeGraph(embedder, NoLog(), KnowledgeConfig(), read)
    graph.add(collection.steps)
    if update:
        graph.update()
    graph.embed_statements()

    def rank(_: int, question: str) -> Sequence[int]:
        return [collection.passage_of[hit.step] for hit in graph.search(question, DEEPEST, hops)]

    return Ranker(rank, *graph.figures())


def knowledge_by_model(collection: Collection, embedder: TextEmbedder, read: ReadStep, most_steps: int) -> Ranker:
    """Return knowledge whose first steps `read` reads, and the rules the others."""
    first = {step.source for step in collection.steps[:most_steps]}
    return _knowledge(
        collection, embedder, 0, read=lambda step: read(step) if step.source in first else read_by_rules(step)
    )


def _one_hop(collection: Collection, embedder: TextEmbedder, seed: int) -> Ranker:
    return _knowledge(collection, embedder, seed, hops=1)


def _updated(collection: Collection, embedder: TextEmbedder, seed: int) -> Ranker:
    return _knowledge(collection, embedder, seed, update=True)


def best_first(scores: NDArray[np.float64]) -> list[int]:
    """Return the places of the DEEPEST highest scores."""
    return [int(place) for place in np.argsort(-scores, kind="stable")[:DEEPEST]]


_BUILDERS: dict[str, Callable[[Collection, TextEmbedder, int], Ranker]] = {
    "bm25": _bm25,
    "dense": _dense,
    "fused": _fused,
    "knowledge": _knowledge,
    "knowledge-one-hop": _one_hop,
    "knowledge-updated": _updated,
}
METHODS = tuple(_BUILDERS)

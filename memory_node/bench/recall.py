"""`memory-node bench recall`: latency and recall of vector search, and how long an instruction takes to embed."""

from __future__ import annotations

import argparse
import os
import resource
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory_node.bench.rows import emit, progress_bar
from memory_node.domain.ports import TextEmbedder
from memory_node.retrieval.config import RetrievalConfig
from memory_node.retrieval.glosses import ClassGlosses
from memory_node.retrieval.minilm import MiniLmEmbedder
from memory_node.retrieval.vector_index import GraphSettings, VectorIndex

HELP = "latency and recall of vector search"

_LOOKS = (
    "red", "green", "blue", "yellow", "white", "black", "brown", "wooden", "metal", "glass", "plastic", "ceramic",
    "small", "large", "old", "new", "clean", "dirty", "broken", "open", "closed", "hot", "cold", "full", "empty",
    "striped", "round", "square", "heavy", "shiny",
)  # fmt: skip
_PLACES = (
    "on the kitchen counter", "in the fridge", "on the dining table", "in the sink", "on the sofa", "under the bed",
    "on the desk", "in the cabinet", "on the shelf", "in the drawer", "by the window", "on the floor", "in the bath",
    "next to the television", "on the bedside table", "in the garbage can", "in the hallway", "on the coffee table",
)  # fmt: skip
_INSTRUCTIONS = ("bring me the {}", "put the {} away", "wash the {} and put it back", "where is the {}?")
# How much of a unit's vector is its own: crops and phrasings differ between two things of one kind.
_OWN_SHARE = 0.35
_BATCH = 10_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("--units", nargs="+", type=int, default=[10_000], metavar="N", help="remembered units")
    parser.add_argument("--queries", type=int, default=500, metavar="Q")
    parser.add_argument("--k", type=int, default=10, metavar="K", help="answers to a query")
    parser.add_argument("--precision", choices=("fp32", "int8"), default=RetrievalConfig().precision)
    parser.add_argument("--exact-below", type=int, default=RetrievalConfig().exact_below, help="no graph up to here")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="while the graph is built")
    parser.add_argument("--expansion", type=int, default=GraphSettings().expansion_search, help="of the graph's search")


def run(args: argparse.Namespace) -> int:
    """Do it; return the exit status."""
    emit(rows(args), args.json)
    return 0


def rows(args: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield one row for each number of units."""
    embedder = MiniLmEmbedder(args.precision)
    embed_p50_ms = measure_embedding(embedder)
    for units in args.units:
        rng = np.random.default_rng(args.seed)
        source = UnitVectors(embedder, rng)
        settings = GraphSettings(expansion_search=args.expansion)
        index: VectorIndex[int] = VectorIndex(embedder.dimension, args.exact_below, settings)
        queries = source.draw(args.queries)
        best = _BestExact(queries, args.k)
        with progress_bar() as progress:
            task = progress.add_task(f"{units} units", total=units)
            for start in range(0, units, _BATCH):
                count = min(_BATCH, units - start)
                vectors = source.draw(count)
                index.add(range(start, start + count), vectors, threads=args.threads)
                best.see(vectors, start)
                progress.advance(task, count)
        times_ms, found = measure_search(index, queries, args.k)
        yield {
            "units": units,
            "k": args.k,
            "p50_ms": float(np.percentile(times_ms, 50)),
            "p99_ms": float(np.percentile(times_ms, 99)),
            "embed_p50_ms": embed_p50_ms,
            "recall_vs_exact": best.recall_of(found),
            "rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0,
            "exact": index.is_exact,
        }


class UnitVectors:
    """Draws descriptions of things as vectors: a class, a look and a place, as MiniLM embeds them, and some of its own.

    Sentences by the million would take hours to embed; sums of real embeddings keep their clusters and their spread.
    """

    def __init__(self, embedder: TextEmbedder, rng: np.random.Generator) -> None:
        texts = ClassGlosses.load().texts
        self._things = embedder.embed([text for group in texts.values() for text in group])
        self._looks = embedder.embed(_LOOKS)
        self._places = embedder.embed(_PLACES)
        self._rng = rng

    def draw(self, count: int) -> NDArray[np.float32]:
        """Return (count, dimension) unit vectors."""
        rng = self._rng
        own = rng.standard_normal((count, self._things.shape[1]), dtype=np.float32)
        own *= _OWN_SHARE / np.sqrt(self._things.shape[1])
        vectors = own + self._things[rng.integers(len(self._things), size=count)]
        vectors += 0.5 * self._looks[rng.integers(len(self._looks), size=count)]
        vectors += 0.5 * self._places[rng.integers(len(self._places), size=count)]
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)


class _BestExact:
    """The k nearest of all vectors seen, by comparing every one; the vectors themselves are not kept."""

    def __init__(self, queries: NDArray[np.float32], k: int) -> None:
        self._queries = queries
        self._k = k
        self._cosines: NDArray[np.float32] = np.empty((len(queries), 0), dtype=np.float32)
        self._ids: NDArray[np.int64] = np.empty((len(queries), 0), dtype=np.int64)

    def see(self, vectors: NDArray[np.float32], first_id: int) -> None:
        ids = np.arange(first_id, first_id + len(vectors))
        cosines = np.hstack([self._cosines, self._queries @ vectors.T])
        known = np.hstack([self._ids, np.broadcast_to(ids, (len(self._queries), len(ids)))])
        best = np.argsort(-cosines, axis=1)[:, : self._k]
        self._cosines = np.take_along_axis(cosines, best, axis=1)
        self._ids = np.take_along_axis(known, best, axis=1)

    def recall_of(self, found: list[set[int]]) -> float:
        shares = [len(set(ids.tolist()) & answer) / max(1, len(ids)) for ids, answer in zip(self._ids, found)]
        return float(np.mean(shares))


def measure_search(
    index: VectorIndex[int], queries: NDArray[np.float32], k: int
) -> tuple[NDArray[np.float64], list[set[int]]]:
    """Return the milliseconds of each search and the ids that it found."""
    index.search(queries[0], k)
    times_ms, found = [], []
    for query in queries:
        started = time.perf_counter()
        matches = index.search(query, k)
        times_ms.append(1e3 * (time.perf_counter() - started))
        found.append({id_ for id_, _ in matches})
    return np.array(times_ms), found


def measure_embedding(embedder: TextEmbedder, repeats: int = 40) -> float:
    """Return the median milliseconds to embed one instruction."""
    names = [names[0] for names in ClassGlosses.load().names.values()]
    times_ms = []
    for number in range(repeats):
        text = _INSTRUCTIONS[number % len(_INSTRUCTIONS)].format(names[number % len(names)])
        started = time.perf_counter()
        embedder.embed([text])
        times_ms.append(1e3 * (time.perf_counter() - started))
    return float(np.median(times_ms))

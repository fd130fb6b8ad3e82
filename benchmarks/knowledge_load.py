"""`bench knowledge --nodes N`: how fast retrieval and insertion are in a large graph, without embedding."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory_node.app.progress import progress_bar
from memory_node.knowledge.config import KnowledgeConfig
from memory_node.knowledge.facts import Proposition
from memory_node.knowledge.semantic_graph import SemanticGraph

_DIMENSION = 384
_VOCABULARY = 60_000
_NAMES = 200_000
_WORDS_OF_A_STATEMENT = 12
_STATEMENTS_OF_A_STEP = 4
_STEPS_OF_A_SESSION = 20
# Words follow Zipf's law, so that some are in a large part of all statements.
_ZIPF = 1.3
_BATCH = 2000
_TIMED_INSERTIONS = 500
_QUESTIONS = 300
_WARMING = 5
_DEPTH = 10
# How far a question's vector is moved from its statement's, as a share of its length.
_NOISE = 0.7


@dataclass(frozen=True)
class _Asked:
    """A question. vector (384,): its meaning. step: what answers it."""

    text: str
    vector: NDArray[np.float32]
    step: str


class _Made:
    """Propositions with words, names and vectors drawn by chance; those of one step are alike."""

    def __init__(self, seed: int) -> None:
        self._generator = np.random.default_rng(seed)
        self._count = 0

    def draw(self, count: int) -> tuple[list[Proposition], NDArray[np.float32]]:
        """Return so many propositions with their vectors (count, 384)."""
        words = np.minimum(self._generator.zipf(_ZIPF, (count, _WORDS_OF_A_STATEMENT)), _VOCABULARY)
        names = self._generator.integers(0, _NAMES, (count, 2))
        made = [self._proposition(number, row, named) for number, (row, named) in enumerate(zip(words, names))]
        self._count += count
        vectors = self._generator.standard_normal((count, _DIMENSION), dtype=np.float32)
        vectors += np.repeat(vectors[::_STATEMENTS_OF_A_STEP], _STATEMENTS_OF_A_STEP, axis=0)[:count]
        return made, vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    def question(self, proposition: Proposition, vector: NDArray[np.float32]) -> _Asked:
        """Return a question that holds half of the words of a proposition, and means nearly the same."""
        words = self._generator.permutation(proposition.statement.split())
        noise = self._generator.standard_normal(_DIMENSION, dtype=np.float32)
        moved = vector + _NOISE * noise / np.linalg.norm(noise)
        return _Asked(" ".join(words[: len(words) // 2]), moved / np.linalg.norm(moved), proposition.sources[0])

    def _proposition(self, number: int, words: NDArray[np.int64], names: NDArray[np.int64]) -> Proposition:
        place = self._count + number
        step = place // _STATEMENTS_OF_A_STEP
        source = f"s{step // _STEPS_OF_A_SESSION}:{step % _STEPS_OF_A_SESSION}"
        subject = f"Name{step % _NAMES}"
        text = f"{subject}: {' '.join(f'word{word}' for word in words)} Name{names[0]} and Name{names[1]}"
        return Proposition(text, frozenset(), (source,), subject=subject)


class _NoEmbedder:
    """Says how long vectors are."""

    dimension = _DIMENSION

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Raise: vectors are drawn here."""
        raise NotImplementedError


def load_row(nodes: int, seed: int) -> dict[str, Any]:
    """Return the row of a graph of so many propositions.

    retrieval_ms_*: a question with two hops. insert_ms_*: one proposition with its vector. *_cpu_ms_*: the processor's
    time for the same, which other work on the machine does not add to. found: share of the questions whose step is
    among the first ten. build_s: all of them, which a start takes, too. rss_mb: the most memory of this process.
    """
    made, graph = _Made(seed), SemanticGraph(_NoEmbedder(), KnowledgeConfig())
    started = time.perf_counter()
    questions: list[_Asked] = []
    with progress_bar() as progress:
        task = progress.add_task(f"{nodes} propositions", total=nodes)
        for begin in range(0, nodes, _BATCH):
            drawn = made.draw(min(_BATCH, nodes - begin))
            _put(graph, drawn)
            wanted = _QUESTIONS * (begin + len(drawn[0])) // nodes - len(questions)
            questions += [made.question(one, vector) for one, vector in zip(drawn[0][:wanted], drawn[1])]
            progress.advance(task, len(drawn[0]))
    build_s = time.perf_counter() - started
    inserted = _timed(lambda drawn: _put(graph, drawn), [made.draw(1) for _ in range(_TIMED_INSERTIONS)])
    for one in questions[:_WARMING]:
        _steps_of(graph, one)
    found: list[bool] = []
    asked = _timed(lambda one: found.append(one.step in _steps_of(graph, one)), questions)
    held, edges = graph.figures()
    return {
        "propositions": nodes,
        "nodes": held,
        "edges": edges,
        **_percentiles("retrieval", asked),
        **_percentiles("insert", inserted),
        "found": float(np.mean(found)),
        "build_s": build_s,
        "rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0,
    }


def _put(graph: SemanticGraph, drawn: tuple[list[Proposition], NDArray[np.float32]]) -> None:
    propositions, vectors = drawn
    for proposition in propositions:
        graph.put(proposition)
    graph.put_vectors([one.text for one in propositions], vectors)


def _steps_of(graph: SemanticGraph, asked: _Asked) -> list[str]:
    return [hit.step for hit in graph.search(asked.text, asked.vector, _DEPTH)]


def _timed(do: Callable[[Any], object], values: Sequence[Any]) -> NDArray[np.float64]:
    """Do something with each value; return (n, 2) the milliseconds of the clock and of the processor."""
    times_s = []
    for value in values:
        clock, processor = time.perf_counter(), time.thread_time()
        do(value)
        times_s.append((time.perf_counter() - clock, time.thread_time() - processor))
    return 1e3 * np.array(times_s)


def _percentiles(what: str, times_ms: NDArray[np.float64]) -> dict[str, float]:
    names = (f"{what}_ms", f"{what}_cpu_ms")
    return {
        f"{name}_p{share}": float(np.percentile(column, share))
        for name, column in zip(names, times_ms.T)
        for share in (50, 99)
    }

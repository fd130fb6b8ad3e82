"""`bench knowledge --nodes N`: how fast retrieval and insertion are in a large graph, without embedding."""

from __future__ import annotations

import resource
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory_node.app.progress import progress_bar
from memory_node.knowledge.config import KnowledgeConfig
from memory_node.knowledge.retrieval.retriever import Retriever
from memory_node.knowledge.retrieval.statement import Statement
from memory_node.knowledge.retrieval.statement_rows import StatementRows
from memory_node.search.vector_index import VectorIndex

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
_QUESTIONS = 200


class _Made:
    """Statements with words, names and vectors drawn by chance; those of one step are alike."""

    def __init__(self, seed: int) -> None:
        self._generator = np.random.default_rng(seed)
        self._count = 0

    def draw(self, count: int) -> tuple[list[Statement], NDArray[np.float32]]:
        """Return so many statements with their vectors (count, 384)."""
        words = np.minimum(self._generator.zipf(_ZIPF, (count, _WORDS_OF_A_STATEMENT)), _VOCABULARY)
        names = self._generator.integers(0, _NAMES, (count, 2))
        statements = [self._statement(number, row, named) for number, (row, named) in enumerate(zip(words, names))]
        self._count += count
        vectors = self._generator.standard_normal((count, _DIMENSION), dtype=np.float32)
        vectors += np.repeat(vectors[::_STATEMENTS_OF_A_STEP], _STATEMENTS_OF_A_STEP, axis=0)[:count]
        return statements, vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    def question(self) -> tuple[str, NDArray[np.float32]]:
        """Return a question that holds the words of a statement, and its vector."""
        (statement,), vectors = self.draw(1)
        self._count -= 1
        return statement.text, vectors[0]

    def _statement(self, number: int, words: NDArray[np.int64], names: NDArray[np.int64]) -> Statement:
        place = self._count + number
        step = place // _STATEMENTS_OF_A_STEP
        source = f"s{step // _STEPS_OF_A_SESSION}:{step % _STEPS_OF_A_SESSION}"
        subject = f"Name{step % _NAMES}"
        text = f"{' '.join(f'word{word}' for word in words)} Name{names[0]} and Name{names[1]}"
        return Statement(f"p{place}", text, subject, source)


def load_row(nodes: int, seed: int) -> dict[str, Any]:
    """Return the row of a graph of about so many propositions.

    retrieval_ms_*: a question with two hops. insert_ms_*: one statement with its vector. build_s: all of them.
    """
    made = _Made(seed)
    rows = StatementRows(_DIMENSION, VectorIndex(_DIMENSION))
    started = time.perf_counter()
    with progress_bar() as progress:
        task = progress.add_task(f"{nodes} propositions", total=nodes)
        for begin in range(0, nodes, _BATCH):
            statements, vectors = made.draw(min(_BATCH, nodes - begin))
            rows.add(statements, vectors)
            progress.advance(task, len(statements))
    build_s = time.perf_counter() - started
    retriever = Retriever(rows, KnowledgeConfig())
    inserts_ms = [_insert_ms(rows, made) for _ in range(_TIMED_INSERTIONS)]
    asked_ms = [_ask_ms(retriever, *made.question()) for _ in range(_QUESTIONS)]
    held, edges = rows.figures()
    return {
        "propositions": nodes,
        "nodes": held,
        "edges": edges,
        "retrieval_ms_p50": float(np.percentile(asked_ms, 50)),
        "retrieval_ms_p99": float(np.percentile(asked_ms, 99)),
        "insert_ms_p50": float(np.percentile(inserts_ms, 50)),
        "insert_ms_p99": float(np.percentile(inserts_ms, 99)),
        "build_s": build_s,
        "rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0,
    }


def _insert_ms(rows: StatementRows, made: _Made) -> float:
    statements, vectors = made.draw(1)
    started = time.perf_counter()
    rows.add(statements, vectors)
    return 1e3 * (time.perf_counter() - started)


def _ask_ms(retriever: Retriever, text: str, vector: NDArray[np.float32]) -> float:
    started = time.perf_counter()
    retriever.search(text, vector, 10)
    return 1e3 * (time.perf_counter() - started)

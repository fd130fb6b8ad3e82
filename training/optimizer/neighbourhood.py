"""The semantic neighbourhood of a task: those whose texts are nearest, each text once, never its own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memory_node.domain.ports import TextEmbedder

HELD_OUT_JUDGES = 3
"""Judges of a held-out task, whatever a training has, so that trainings compare."""


def judges(queries: Sequence[str], embedder: TextEmbedder, size: int, trained: int) -> list[tuple[int, ...]]:
    """Return for each query the places of the tasks by which its memories are judged.

    trained: so many queries come first and can be judges; the others are held out. size: judges of the first ones; 0:
    each is its own, an ablation.
    """
    near = neighbourhoods(queries, embedder, max(size, HELD_OUT_JUDGES), trained)
    learning = [row[:size] if size else (place,) for place, row in enumerate(near[:trained])]
    return learning + [row[:HELD_OUT_JUDGES] for row in near[trained:]]


def neighbourhoods(
    queries: Sequence[str], embedder: TextEmbedder, size: int, among: int | None = None
) -> list[tuple[int, ...]]:
    """Return for each query the places of the `size` nearest others, the nearest first.

    Queries of one text are one neighbour, the first of them: 3,553 train games of ALFWorld have only 988 texts. The
    paper found 3 best: with 1 a memory serves one task, with 5 none. among: the first so many queries can be
    neighbours, the train tasks; all by default.
    """
    known = queries[:among]
    first = {query: place for place, query in reversed(list(enumerate(known)))}
    texts = list(first)
    vectors = dict(zip(texts, embedder.embed(texts)))
    candidates = np.stack([vectors[text] for text in texts])
    found: dict[str, tuple[int, ...]] = {}
    for query in dict.fromkeys(queries):
        vector = vectors[query] if query in vectors else embedder.embed([query])[0]
        order = np.argsort(-(candidates @ vector), kind="stable")
        found[query] = tuple(first[texts[one]] for one in order if texts[one] != query)[:size]
    return [found[query] for query in queries]

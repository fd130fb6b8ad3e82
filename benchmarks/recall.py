"""`bench recall`: latency of the search for what is remembered by the million, and how well requests are understood."""

from __future__ import annotations

import argparse
import resource
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray

from benchmarks.rows import emit, open_text
from memory_node.app.progress import progress_bar
from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.answer import FindQuery
from memory_node.domain.memory_unit import MemoryUnit
from memory_node.domain.ports import TextEmbedder
from memory_node.domain.states import ObjectState, StateBelief
from memory_node.search.config import RetrievalConfig
from memory_node.search.embedders import CachingEmbedder
from memory_node.search.glosses import ClassGlosses
from memory_node.search.minilm import MiniLmEmbedder
from memory_node.search.ranker import Ranker
from memory_node.search.unit_index import UnitIndex

NOW_NS = 10_000 * 1_000_000_000

_LOOKS = (
    "red", "green", "blue", "yellow", "white", "black", "brown", "wooden", "metal", "glass", "plastic", "ceramic",
    "small", "large", "old", "new", "broken", "striped", "round", "square", "heavy", "shiny",
)  # fmt: skip
_PLACES = (
    "on the kitchen counter", "in the fridge", "on the dining table", "in the sink", "on the sofa", "under the bed",
    "on the desk", "in the cabinet", "on the shelf", "in the drawer", "by the window", "on the floor", "in the bath",
    "next to the television", "on the bedside table", "in the garbage can", "in the hallway", "on the coffee table",
)  # fmt: skip
_REQUESTS = (
    "bring me the {look} {thing}",
    "put the {thing} {place} away",
    "where is the {look} {thing} {place}?",
    "the clean {thing}",
    "the {thing} that is cold",
    "I need the {thing}",
    "{described}",
    "bring me {described}",
)
_STATES = (ObjectState.CLEANED, ObjectState.DIRTY, ObjectState.COLD, ObjectState.HEATED, ObjectState.OPENED)
_SITE_M = 40.0
_OLDEST_S = 3600.0


class RememberedThings:
    """Draws units of every class, with states, all over a site, and requests for them."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._glosses = ClassGlosses.of(load_catalogue())
        self._classes = list(self._glosses.names)
        self._rng = rng

    def draw(self, first: int, count: int) -> list[MemoryUnit]:
        """Return units `first`, ..."""
        rng = self._rng
        classes = rng.integers(len(self._classes), size=count)
        positions = rng.uniform(0.0, _SITE_M, (count, 3)) * [1.0, 1.0, 0.05]
        stamps = NOW_NS - (rng.uniform(0.0, _OLDEST_S, count) * 1e9).astype(np.int64)
        states = rng.integers(2 * len(_STATES), size=count)
        covariance = np.eye(3) * 0.01
        return [
            MemoryUnit(
                object_id=f"thing{first + index}",
                object_class=self._classes[classes[index]],
                position=positions[index],
                covariance=covariance,
                stamp_ns=int(stamps[index]),
                states=tuple(StateBelief(state, 0.9, int(stamps[index])) for state in _STATES[states[index] :][:1]),
            )
            for index in range(count)
        ]

    def queries(self, count: int, k: int) -> list[FindQuery]:
        """Return requests in words, every third of them from somewhere."""
        rng = self._rng
        texts = [self._glosses.texts[name] for name in self._classes]
        queries = []
        for number in range(count):
            chosen = int(rng.integers(len(self._classes)))
            text = _REQUESTS[number % len(_REQUESTS)].format(
                look=_LOOKS[rng.integers(len(_LOOKS))],
                place=_PLACES[rng.integers(len(_PLACES))],
                thing=self._glosses.names[self._classes[chosen]][0],
                described=texts[chosen][-1],
            )
            x_m, y_m = rng.uniform(0.0, _SITE_M, 2)
            near = (float(x_m), float(y_m), 1.0) if number % 3 == 0 else None
            queries.append(FindQuery(text, near=near, k=k))
        return queries


_HALVES = ("development", "held_out")
_NOW_NS = 1_000_000_000
_K = 8


def request_rows(path: str, precision: str) -> Iterator[dict[str, Any]]:
    """Yield one row for each half of a file of requests.

    The file (YAML) holds `home`: the classes remembered, one thing of each; by half a list of {text, fits, also?}:
    classes that answer the request, and such as count neither way; and as `nothing_<half>` texts that nothing fits.
    taken_away: the requests again, with all that fits or might fit gone from memory, so that each must be refused.
    """
    with open_text(path) as lines:
        document = yaml.safe_load(lines)
    recall = UnitIndex(Ranker(MiniLmEmbedder(precision)))
    for half in _HALVES:
        yield {"half": half, **understanding(recall, document, half)}


def understanding(recall: UnitIndex, document: Mapping[str, Any], half: str) -> dict[str, float]:
    """Return the figures of one half; recall is emptied for it."""
    home, cases = document["home"], document[half]
    _fill(recall, home)
    answers = [[name for name in _classes(recall, case["text"]) if name not in case.get("also", ())] for case in cases]
    refused = [not _classes(recall, text) for text in document[f"nothing_{half}"]]
    taken_away = []
    for case in cases:
        gone = {*case["fits"], *case.get("also", ())}
        _fill(recall, [name for name in home if name not in gone])
        taken_away.append(not _classes(recall, case["text"]))
    pairs = list(zip(answers, cases))
    return {
        "requests": len(cases),
        "accuracy_at_1": float(np.mean([bool({*found[:1]} & {*case["fits"]}) for found, case in pairs])),
        "accuracy_at_3": float(np.mean([bool({*found[:3]} & {*case["fits"]}) for found, case in pairs])),
        "answered": float(np.mean([len(found) > 0 for found in answers])),
        "nothing": len(refused),
        "nothing_refused": float(np.mean(refused)),
        "taken_away_refused": float(np.mean(taken_away)),
    }


def _fill(recall: UnitIndex, classes: Sequence[str]) -> None:
    recall.clear()
    recall.put_all([MemoryUnit(name, name, np.zeros(3), np.eye(3) * 0.01, _NOW_NS) for name in classes])


def _classes(recall: UnitIndex, text: str) -> list[str]:
    return [answer.object_class for answer in recall.rank(FindQuery(text, k=_K), _NOW_NS).answers]


_BATCH = 10_000
_WRITES_PER_S = 100.0
# Of so many searches for a query the fastest counts: what else the machine does meanwhile is not the search.
_REPEATS = 5
_EMBEDDED = 40  # requests, for the median time of one
# Units of the memory that the control's writer writes to.
_CONTROL_UNITS = 20_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("--units", nargs="+", type=int, default=[10_000], metavar="N", help="remembered units")
    parser.add_argument("--queries", type=int, default=500, metavar="Q")
    parser.add_argument("--k", type=int, default=10, metavar="K", help="answers to a query")
    parser.add_argument("--precision", choices=("fp32", "int8"), default=RetrievalConfig().precision)
    parser.add_argument("--requests", metavar="FILE", help="only measure what is answered to the requests of this file")


def run(args: argparse.Namespace) -> int:
    """Do it; return the exit status."""
    emit(request_rows(args.requests, args.precision) if args.requests else rows(args), args.json)
    return 0


def rows(args: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield one row for each number of units.

    What is timed is the product's whole search: dense, lexical, class, state, recency and nearness, but not the
    request's embedding, which has a column of its own. writer_*: the same while a thread replaces units in this memory;
    control_*: while it replaces them in another one, which takes the processor and the interpreter as much but can hold
    up no reader. What writer_* exceeds control_* by was waiting.
    """
    model = MiniLmEmbedder(args.precision)
    embedder = CachingEmbedder(model, capacity=args.queries + 1000)
    for count in args.units:
        things = RememberedThings(np.random.default_rng(args.seed))
        queries = things.queries(args.queries, args.k)
        embed_p50_ms = measure_embedding(model, [query.text for query in queries])
        recall = UnitIndex(Ranker(embedder))
        with progress_bar() as progress:
            task = progress.add_task(f"{count} units", total=count)
            for start in range(0, count, _BATCH):
                recall.put_all(things.draw(start, min(_BATCH, count - start)))
                progress.update(task, completed=len(recall))
        times_ms, found = measure_search(recall, queries)
        fresh = things.draw(0, min(count, 2000))
        control = UnitIndex(Ranker(embedder))
        control.put_all(things.draw(0, min(count, _CONTROL_UNITS)))
        beside_ms = measure_beside_a_writer(recall, queries, recall, fresh)
        control_ms = measure_beside_a_writer(recall, queries, control, fresh)
        yield {
            "units": count,
            "k": args.k,
            "p50_ms": float(np.percentile(times_ms, 50)),
            "p99_ms": float(np.percentile(times_ms, 99)),
            "embed_p50_ms": embed_p50_ms,
            "rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0,
            "answered": float(np.mean([len(ids) > 0 for ids in found])),
            "writer_p50_ms": float(np.percentile(beside_ms, 50)),
            "writer_p99_ms": float(np.percentile(beside_ms, 99)),
            "control_p50_ms": float(np.percentile(control_ms, 50)),
            "control_p99_ms": float(np.percentile(control_ms, 99)),
        }


def measure_search(recall: UnitIndex, queries: Sequence[FindQuery]) -> tuple[NDArray[np.float64], list[set[str]]]:
    """Return the milliseconds of each query's search and the ids that it found; its embedding is known before."""
    rounds = []
    for _ in range(1 + _REPEATS):
        found, times_ms = [], []
        for query in queries:
            started = time.perf_counter()
            recollection = recall.rank(query, NOW_NS)
            times_ms.append(1e3 * (time.perf_counter() - started))
            found.append({answer.object_id for answer in recollection.answers})
        rounds.append(times_ms)
    # The first round embeds.
    return np.min(rounds[1:], axis=0), found


def measure_beside_a_writer(
    recall: UnitIndex, queries: Sequence[FindQuery], written: UnitIndex, fresh: Sequence[MemoryUnit]
) -> NDArray[np.float64]:
    """Return the milliseconds of each search while a thread puts units into `written`, a hundred a second."""
    ended = threading.Event()

    def write() -> None:
        for unit in cycle(fresh):
            if ended.wait(1.0 / _WRITES_PER_S):
                return
            written.put(unit)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        return measure_search(recall, queries)[0]
    finally:
        ended.set()
        writer.join()


def measure_embedding(embedder: TextEmbedder, texts: Sequence[str]) -> float:
    """Return the median milliseconds to embed one request."""
    times_ms = []
    for number in range(_EMBEDDED):
        started = time.perf_counter()
        embedder.embed([texts[number % len(texts)]])
        times_ms.append(1e3 * (time.perf_counter() - started))
    return float(np.median(times_ms))

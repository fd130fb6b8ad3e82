"""`memory-node bench knowledge`: how well knowledge finds what answers a question, beside other methods."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.knowledge_answered import answered_rows, held_rows
from benchmarks.knowledge_asked import asked_rows
from benchmarks.knowledge_cases import Collection, Dataset, load_dataset
from benchmarks.knowledge_home import home_rows
from benchmarks.knowledge_load import load_row
from benchmarks.knowledge_rankers import METHODS, Ranker, build, knowledge_by_model
from benchmarks.knowledge_readers import ModelReader, Reader, RuleReader
from benchmarks.knowledge_utility import BUDGETS, utility_rows
from benchmarks.likelihood import scoring_model
from benchmarks.memory_utility import UtilityRow
from benchmarks.model_extraction import ModelExtractor
from benchmarks.rows import emit
from memory_node.app.progress import progress_bar
from memory_node.domain.ports import TextEmbedder
from memory_node.llm.chat import ChatModel
from memory_node.llm.config import ModelConfig
from memory_node.llm.open_model import ModelShelf
from memory_node.search.embedders import CachingEmbedder
from memory_node.search.minilm import MiniLmEmbedder

_DEPTHS = (2, 5, 10)
# A busy machine ends no measurement.
_REPLY_S = 600.0
# Replies may be written by hand.
_WRITTEN_S = 3_000.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument(
        "--data",
        type=Path,
        metavar="FILE",
        help="questions and passages, or talks",
    )
    what.add_argument("--nodes", type=int, metavar="N", help="latency in a graph of N propositions, without embedding")
    what.add_argument("--home", action="store_true", help="instructions that need what people told")
    what.add_argument("--asked", action="store_true", help="questions about told facts, documents, deeds and the scene")
    parser.add_argument(
        "--utility",
        action="store_true",
        help="with --data: what memories are worth for their tokens; a language model reads them with --model, else "
        "rules do",
    )
    parser.add_argument(
        "--answered",
        type=int,
        default=0,
        metavar="N",
        help="with --data: N questions that a language model answers by knowledge, and without structuring, retrieval "
        "and reasoning; without a model: of how many the answer stands in what is found",
    )
    parser.add_argument("--budgets", type=int, nargs="+", default=list(BUDGETS), help="tokens, with --utility")
    parser.add_argument("--limit", type=int, default=0, metavar="N", help="questions of each collection; 0: all")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS), help="default: all")
    parser.add_argument(
        "--model",
        nargs="?",
        const="",
        metavar="FILE",
        help="a language model: a GGUF file (default: the embedded one), or with --endpoint a name there; alone: add a "
        "row whose statements it reads",
    )
    parser.add_argument("--endpoint", default="", metavar="URL", help="the model is at an OpenAI-compatible endpoint")
    parser.add_argument(
        "--model-steps", type=int, default=20, metavar="N", help="steps of each collection that the model reads"
    )
    parser.add_argument("--threads", type=int, default=2, help="of the sentence embedder")


def run(args: argparse.Namespace) -> int:
    """Do it; return the exit status."""
    if args.nodes:
        emit([load_row(args.nodes, args.seed)], args.json)
    elif args.home:
        emit(home_rows(CachingEmbedder(MiniLmEmbedder(threads=args.threads))), args.json)
    elif args.asked:
        emit(asked_rows(CachingEmbedder(MiniLmEmbedder(threads=args.threads))), args.json)
    elif args.answered:
        emit(answered(args), args.json)
    elif args.utility:
        emit(map(asdict, utility(args)), args.json)
    else:
        emit(rows(args), args.json)
    return 0


def rows(args: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield one row for each method.

    recall_at_k: mean over questions of the share of their gold passages among the first k. ms_*: one question, its
    embedding included. build_s: everything from the texts on, embedding included.
    """
    dataset = load_dataset(args.data, args.limit)
    embedder = MiniLmEmbedder(threads=args.threads)
    with progress_bar() as progress:
        task = progress.add_task(dataset.name, total=len(args.methods))
        for method in args.methods:
            yield measure(dataset, method, embedder, args.seed)
            progress.advance(task)
    if args.model is not None:
        yield model_row(dataset, embedder, args)


def utility(args: argparse.Namespace) -> Iterator[UtilityRow]:
    """Return the rows of utility_rows().

    Raises:
        InvalidValueError: the model is an endpoint.
    """
    reader: Reader = RuleReader()
    if args.model is not None:
        model = scoring_model(_model(args, ModelConfig(timeout_s=_REPLY_S)), "--utility")
        reader = ModelReader(model, _REPLY_S)
    embedder = CachingEmbedder(MiniLmEmbedder(threads=args.threads))
    return utility_rows(load_dataset(args.data, args.limit), embedder, reader, args.budgets, args.seed)


def answered(args: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Return the rows of answered_rows(), and without a model those of held_rows()."""
    dataset, embedder = load_dataset(args.data), CachingEmbedder(MiniLmEmbedder(threads=args.threads))
    if args.model is None and not args.endpoint:
        return held_rows(dataset, embedder, args.answered, args.seed)
    model = _model(args, ModelConfig(timeout_s=_WRITTEN_S))
    return map(asdict, answered_rows(dataset, embedder, model, args.answered, args.seed, _WRITTEN_S))


def _model(args: argparse.Namespace, config: ModelConfig) -> ChatModel:
    chosen = args.model or ""
    named = {"base_url": args.endpoint} | ({"model": chosen} if chosen else {})
    return ModelShelf().open(config.changed(**(named if args.endpoint else {"model_path": chosen})))


def model_row(dataset: Dataset, embedder: TextEmbedder, args: argparse.Namespace) -> dict[str, Any]:
    """Return the row of a graph whose first steps a language model reads and the others the rules.

    model_steps: those that it read; model_failed: of them, those without a usable reply; model_unfounded: statements
    that were left out because their step does not say them.
    """
    model = _model(args, ModelConfig(max_reply_tokens=400, timeout_s=_REPLY_S))
    extractor = ModelExtractor(model)

    def build_with_model(_: str, collection: Collection, embedder: TextEmbedder, seed: int) -> Ranker:
        return knowledge_by_model(collection, embedder, extractor.propositions, args.model_steps)

    row = measure(dataset, "knowledge-model", embedder, args.seed, build_with_model)
    counts = extractor.counts
    return {
        **row,
        "model": model.name,
        "model_steps": counts.steps,
        "model_failed": counts.failed,
        "model_unfounded": counts.unfounded,
    }


def measure(
    dataset: Dataset,
    method: str,
    embedder: TextEmbedder,
    seed: int = 0,
    make: Callable[[str, Collection, TextEmbedder, int], Ranker] = build,
) -> dict[str, Any]:
    """Return one method's row."""
    build_s, times_ms = 0.0, []
    nodes = edges = 0
    recalls: dict[int, list[float]] = {depth: [] for depth in _DEPTHS}
    for collection in dataset.collections:
        started = time.perf_counter()
        ranker = make(method, collection, embedder, seed)
        build_s += time.perf_counter() - started
        nodes, edges = nodes + ranker.nodes, edges + ranker.edges
        for number, question in enumerate(collection.questions):
            started = time.perf_counter()
            ranked = list(dict.fromkeys(ranker.rank(number, question.text)))
            times_ms.append(1e3 * (time.perf_counter() - started))
            for depth in _DEPTHS:
                recalls[depth].append(len(question.gold.intersection(ranked[:depth])) / len(question.gold))
    return {
        "dataset": dataset.name,
        "method": method,
        "questions": sum(len(collection.questions) for collection in dataset.collections),
        "passages": sum(len(collection.passages) for collection in dataset.collections),
        **{f"recall_at_{depth}": float(np.mean(shares)) for depth, shares in recalls.items()},
        "ms_p50": float(np.percentile(times_ms, 50)),
        "ms_p99": float(np.percentile(times_ms, 99)),
        "build_s": build_s,
        "nodes": nodes,
        "edges": edges,
    }

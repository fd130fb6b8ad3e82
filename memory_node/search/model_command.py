"""`memory-node model build|check`: makes the sentence embedder's ONNX graphs and compares them."""

from __future__ import annotations

import argparse
import time

import numpy as np
from rich.console import Console
from rich.table import Table

from memory_node.search.minilm import PRECISIONS, MiniLmEmbedder, build_minilm, minilm_folder

_SAMPLE = (
    "wash an apple and put it in the bowl",
    "bring me something to drink from",
    "throw the clean red fruit away",
    "heat a slice of bread and put it on the counter next to the coffee machine",
    "turn on the floor lamp while holding the newspaper",
    "yes",
    "a high-calorie food",
    "put two pillows on the sofa",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("action", choices=("build", "check"), help="make the graphs, or compare int8 with fp32")
    parser.add_argument("--force", action="store_true", help="build again what is there")


def run(args: argparse.Namespace) -> int:
    """Do it; return the exit status."""
    if args.action == "build":
        print(build_minilm(force=args.force))
        return 0
    return _check()


def _check(repeats: int = 25) -> int:
    exact = MiniLmEmbedder("fp32").embed(_SAMPLE)
    table = Table("precision", "size_mb", "embed_p50_ms", "cosine_to_fp32_min", title=str(minilm_folder()))
    for precision in PRECISIONS:
        embedder = MiniLmEmbedder(precision)
        cosine = float((embedder.embed(_SAMPLE) * exact).sum(axis=1).min())
        times_ms = []
        for text in _SAMPLE * repeats:
            started = time.perf_counter()
            embedder.embed([text])
            times_ms.append(1e3 * (time.perf_counter() - started))
        size_mb = (minilm_folder() / f"{precision}.onnx").stat().st_size / 1e6
        table.add_row(precision, f"{size_mb:.0f}", f"{np.median(times_ms):.2f}", f"{cosine:.4f}")
    Console(width=120).print(table)
    return 0

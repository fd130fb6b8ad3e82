"""`memory-node llm check`: says which language model there is, how fast it is, and lets it answer a question."""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from memory_node.llm.chat import Message
from memory_node.llm.config import ModelConfig
from memory_node.llm.llama.model import LlamaModel
from memory_node.llm.model_arguments import add_model_arguments, model_parameters
from memory_node.llm.open_model import ModelShelf
from memory_node.llm.speed import measure_speed

_REPLY_TOKENS = 100
_QUESTION = "What is the capital of France? Answer in one sentence."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("action", choices=("check",), help="load or reach a model, measure it, and ask it something")
    add_model_arguments(parser)
    parser.add_argument("--ask", default=_QUESTION, metavar="TEXT", help="what to ask it")
    parser.add_argument("--timeout", type=float, default=60.0, metavar="S", help="for one reply (default 60)")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")


def run(args: argparse.Namespace) -> int:
    """Do it; return the exit status."""
    config = ModelConfig(timeout_s=args.timeout, max_reply_tokens=_REPLY_TOKENS, **model_parameters(args))
    row = _row(config, args.ask)
    if args.json:
        print(json.dumps(row))
        return 0
    table = Table(show_header=False, box=None)
    for name, value in row.items():
        table.add_row(name, f"{value:.1f}" if isinstance(value, float) else str(value))
    Console(width=120).print(table)
    return 0


def _row(config: ModelConfig, question: str) -> dict[str, Any]:
    before_mb, started = _resident_mb(), time.perf_counter()
    shelf = ModelShelf()
    model = shelf.open(config)
    row: dict[str, Any] = {"model": model.name}
    if isinstance(model, LlamaModel):
        native = model.engine.native
        row |= {"file": str(native.path), "kind": native.description, "million_weights": native.parameters / 1e6}
        row |= {"context_tokens": native.window_tokens, "trained_for_tokens": native.trained_tokens}
        row |= {"load_s": time.perf_counter() - started}
    else:
        row |= {"endpoint": config.base_url}
    speed = measure_speed(shelf.open, config)
    row |= {"prompt_tokens": speed.prompt_tokens, "tokens_in_per_s": speed.tokens_in_per_s}
    row |= {"tokens_out_per_s": speed.tokens_out_per_s}
    if speed.score_ms is not None:
        row |= {"score_20_calls_ms": speed.score_ms, "memory_mb": _resident_mb() - before_mb}
    started = time.perf_counter()
    answer = model.reply([Message("user", question)])
    row |= {"answer_s": time.perf_counter() - started, "question": question, "answer": answer.text.strip()}
    return row


def _resident_mb() -> float:
    """Return this process's memory that is in use (MB)."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096 / 1e6

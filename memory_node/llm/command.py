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
from memory_node.llm.open_model import ModelShelf


def add_model_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare them."""
    parser.add_argument("--endpoint", default="", metavar="URL", help="an OpenAI-compatible endpoint instead of a file")
    parser.add_argument("--model", default="", help="with --endpoint its name there, else a GGUF file")
    parser.add_argument("--adapter", default="", metavar="FILE", help="GGUF file of a LoRA adapter")
    parser.add_argument(
        "--key-variable", default="OPENAI_API_KEY", metavar="NAME", help="environment variable with the endpoint's key"
    )
    parser.add_argument("--window", type=int, default=8192, metavar="TOKENS", help="of a model in this process")
    parser.add_argument("--threads", type=int, default=0, help="of a model in this process (default: one a core)")


def model_parameters(args: argparse.Namespace) -> dict[str, Any]:
    """Return the fields of a ModelConfig that they give."""
    if args.endpoint:
        named = {"model": args.model} if args.model else {}
        return {"base_url": args.endpoint, "api_key_variable": args.key_variable, **named}
    return {
        "backend": "llama",
        "model_path": args.model,
        "adapter_path": args.adapter,
        "window_tokens": args.window,
        "threads": args.threads,
    }


_REPLY_TOKENS = 100
# Reading speed is measured with so many of these before the question.
_SENTENCES = 15
_SENTENCE = "Area {n}: three things lie at ({n}.2, 0.4, 0.9), last seen {n} minutes ago; one of them is warm. "
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
    model = ModelShelf().open(config)
    row: dict[str, Any] = {"model": model.name}
    first = model.reply([Message("user", question)])
    answer_s = time.perf_counter() - started
    if isinstance(model, LlamaModel):
        row |= {"file": str(model.file.path), "context_tokens": config.window_tokens}
        row |= {"memory_mb": _resident_mb() - before_mb}
    else:
        row |= {"endpoint": config.base_url}
    started = time.perf_counter()
    told = "".join(_SENTENCE.format(n=number) for number in range(1, _SENTENCES + 1))
    reply = model.reply([Message("user", f"{told}{question}")])
    write_s = time.perf_counter() - started - reply.first_token_s
    row |= {"prompt_tokens": reply.tokens_in, "tokens_in_per_s": reply.tokens_in / max(reply.first_token_s, 1e-6)}
    row |= {"tokens_out_per_s": max(reply.tokens_out - 1, 1) / max(write_s, 1e-6)}
    return row | {"load_and_answer_s": answer_s, "question": question, "answer": first.text.strip()}


def _resident_mb() -> float:
    """Return this process's memory that is in use (MB)."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096 / 1e6

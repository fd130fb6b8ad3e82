"""`memory-node train executor`: trains the policy that chooses the next command of a text game."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.alfworld.transcripts import read_transcripts
from memory_node.domain.errors import InvalidValueError, ResourceMissingError
from memory_node.llm.chat import Message
from memory_node.llm.config import ModelConfig
from memory_node.llm.gguf_files import model_file
from memory_node.llm.llama.shared_model import LlamaEngine
from training.executor.examples import examples_of

_MOST_BYTES = 10_000_000
_WINDOW_TOKENS = 2048


class ModelTokens:
    """The tokens of the model in the robot's process: what is trained on is what is read there."""

    def __init__(self, engine: LlamaEngine) -> None:
        self._engine = engine

    def prompt(self, messages: Sequence[Message]) -> list[int]:
        """Return a dialogue up to where the model's turn begins."""
        return self._engine.template.tokens(messages)

    def reply(self, text: str) -> list[int]:
        """Return what the model says, and the end of its turn."""
        return [*self._engine.native.vocabulary.tokens(text), self._engine.template.end]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--on", choices=("alfworld",), required=True)
    parser.add_argument(
        "--transcripts",
        type=Path,
        nargs="+",
        required=True,
        metavar="FILE",
        help="the expert's games, as `memory-node bench alfworld --transcripts` writes them",
    )
    parser.add_argument("--out", type=Path, required=True, help="folder for checkpoint, adapter and card")
    parser.add_argument("--model", default="", help="GGUF file of the model (default: the embedded one)")
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--rank", type=int, default=8, help="of the adapter's matrices (default 8)")
    parser.add_argument("--rate", type=float, default=5e-4, help="highest learning rate (default 5e-4)")
    parser.add_argument("--tokens", type=int, default=900, help="of a game at most (default 900)")
    parser.add_argument(
        "--start", type=Path, metavar="FILE", help="checkpoint of an earlier run, whose weights it starts from"
    )
    parser.add_argument("--games-per-update", type=int, default=4, help="whose gradients are added up (default 4)")
    parser.add_argument("--minutes", type=float, default=55.0, help="after which it ends early (default 55)")
    parser.add_argument("--limit", type=int, default=0, help="of games (default: all)")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)


def run(args: argparse.Namespace) -> int:
    """Train, write the adapter and its card; return the exit status.

    Raises:
        ResourceMissingError: the extra `learning` is not installed.
        InvalidValueError: there is nothing to learn from, or the checkpoint is of another run.
    """
    try:
        import torch

        from training.executor.adapter import adapted_model, save_adapter
        from training.executor.card import write_card
        from training.executor.learning import Progress, Schedule, learn, take_weights
    except ImportError as error:
        needed = "torch, transformers, peft and gguf: pip install 'robot_memory[learning]'"
        raise ResourceMissingError(f"training needs {needed} ({error})") from error
    torch.manual_seed(args.seed)
    torch.set_num_threads(args.threads)
    file = model_file(ModelConfig(backend="llama", model_path=args.model))
    transcripts = [row for path in args.transcripts for row in read_transcripts(path)]
    tokens = ModelTokens(LlamaEngine(file, _WINDOW_TOKENS, args.threads))
    examples = examples_of(transcripts, tokens, args.tokens, args.seed)[: args.limit or None]
    if not examples:
        raise InvalidValueError("no game in the transcripts was won: there is nothing to learn")
    args.out.mkdir(parents=True, exist_ok=True)
    model = adapted_model(file, args.rank)
    if args.start is not None:
        take_weights(model, args.start)
    schedule = Schedule(args.epochs, args.rate, args.games_per_update, args.minutes, args.seed)
    progress: Any = Progress()
    try:
        for progress in learn(model, examples, schedule, args.out / "checkpoint.pt"):
            games, loss = progress.losses[-1]
            print(f"{games} games, loss {loss:.4f}", file=sys.stderr, flush=True)
    except ValueError as error:
        raise InvalidValueError(str(error)) from error
    adapter = args.out / "executor.gguf"
    save_adapter(model, adapter)
    size = adapter.stat().st_size
    if size > _MOST_BYTES:
        raise InvalidValueError(f"{adapter} has {size} bytes, more than {_MOST_BYTES}: take a smaller --rank")
    write_card(args.out / "card.md", schedule, progress, len(examples), size)
    print(adapter)
    return 0

"""What the commands that train an adapter have in common: options, the run, the adapter's file and its card."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from memory_node.domain.errors import InvalidValueError
from training.adapters.adapter import load_weights, save_adapter, size_of
from training.adapters.base_model import open_base
from training.adapters.example import Example, Tokenizer
from training.adapters.learning import Progress, Schedule, learn, write_card
from training.adapters.processes import begin, is_first, tell

_MOST_BYTES = 10_000_000
_MODEL = "a GGUF file, or a folder of a Hugging Face model, text or image-text (default: the embedded model)"


@dataclass(frozen=True)
class Training:
    """What is trained. name: of the file; title and told: of the card. told: gets the number of examples."""

    name: str
    title: str
    told: Callable[[int], str]


def add_model_argument(parser: argparse.ArgumentParser) -> None:
    """Declare which model is trained; see open_base."""
    parser.add_argument("--model", default="", metavar="FILE|DIR", help=_MODEL)


def add_training_arguments(parser: argparse.ArgumentParser, rate: float = 5e-4, tokens: int = 900) -> None:
    """Declare the options that all trainings have."""
    parser.add_argument("--out", type=Path, required=True, help="folder for checkpoint, adapter and card")
    add_model_argument(parser)
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--rank", type=int, default=8, help="of the adapter's matrices (default 8)")
    parser.add_argument("--rate", type=float, default=rate, help=f"highest learning rate (default {rate:g})")
    parser.add_argument("--tokens", type=int, default=tokens, help=f"of an example at most (default {tokens})")
    parser.add_argument("--start", type=Path, metavar="FILE", help="another run's checkpoint: its weights are taken")
    parser.add_argument("--examples-per-update", type=int, default=4, help="whose gradients are added up (default 4)")
    parser.add_argument("--minutes", type=float, default=55.0, help="after which it ends early (default 55)")
    parser.add_argument(
        "--bfloat16",
        action="store_true",
        help="multiply in bfloat16: twice as fast on a processor that can (AVX512-BF16)",
    )
    parser.add_argument("--limit", type=int, default=0, help="of examples (default: all)")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)


def checked_size(adapter: Path) -> int:
    """Return the bytes of an adapter.

    Raises:
        InvalidValueError: a GGUF file, which may come with a checkout, is too large for that.
    """
    size = size_of(adapter)
    if adapter.is_file() and size > _MOST_BYTES:
        raise InvalidValueError(f"{adapter} has {size} bytes, more than {_MOST_BYTES}: take a smaller --rank")
    return size


def train_adapter(
    args: argparse.Namespace, training: Training, examples_of: Callable[[Tokenizer], Sequence[Example]]
) -> int:
    """Train, write the adapter and its card; return the exit status.

    Raises:
        InvalidValueError: there is nothing to learn from, or the checkpoint is of another run.
    """
    begin(args.seed, args.threads)
    schedule = Schedule(args.epochs, args.rate, args.examples_per_update, args.minutes, args.seed, args.bfloat16)
    progress = Progress()
    try:
        base = open_base(args.model, args.threads)
        examples = examples_of(base.tokens)[: args.limit or None]
        if not examples:
            raise InvalidValueError("there is nothing to learn from")
        args.out.mkdir(parents=True, exist_ok=True)
        model = base.adapted(args.rank)
        if args.start is not None:
            load_weights(model, args.start)
        for progress in learn(model, examples, schedule, args.out / "checkpoint.pt"):
            taken, loss = progress.losses[-1]
            tell(f"{taken} examples, loss {loss:.4f}")
    except ValueError as error:
        raise InvalidValueError(str(error)) from error
    if not is_first():
        return 0
    adapter = base.adapter_path(args.out, training.name)
    save_adapter(model, adapter)
    command = f"memory-node {shlex.join(sys.argv[1:])}"
    kind, told = f"A LoRA adapter ({checked_size(adapter) / 1e6:.1f} MB)", training.told(len(examples))
    write_card(args.out / "card.md", training.title, told, kind, command, schedule, progress)
    print(adapter)
    return 0

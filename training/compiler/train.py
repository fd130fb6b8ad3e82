"""`memory-node train compiler`: trains the compiler of memory, an adapter that replies as a teacher did."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from training.adapters.command import Training, add_training_arguments, train_adapter
from training.adapters.example import Example, Tokenizer, answered
from training.compiler.teacher import read_pairs

_COMPILER = Training(
    "compiler",
    "Compiler of memory",
    lambda pairs: (
        "It says what memory has to say at one step, as the dialogue of docs/compiler.md asks it. It learnt from"
        f" {pairs} steps of train tasks that succeeded, with what the rules delivered there; nothing privileged was"
        " used."
    ),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--pairs",
        type=Path,
        nargs="+",
        required=True,
        metavar="FILE",
        help="a teacher's steps, as `memory-node train compiler-pairs` writes them",
    )
    add_training_arguments(parser, tokens=1200)


def run(args: argparse.Namespace) -> int:
    """Train, write the adapter and its card; return the exit status.

    Raises:
        InvalidValueError: no pair is short enough, or the checkpoint is of another run.
    """
    pairs = [pair for path in args.pairs for pair in read_pairs(path)]

    def examples(tokenizer: Tokenizer) -> Sequence[Example]:
        found = (answered(pair.messages, pair.reply, tokenizer, args.tokens) for pair in pairs)
        return [example for example in found if example is not None]

    return train_adapter(args, _COMPILER, examples)

"""`memory-node train executor`: trains the policy that chooses the next command of a text game."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from benchmarks.alfworld.transcripts import read_transcripts
from training.adapters.command import Training, add_training_arguments, train_adapter
from training.adapters.example import Example, Tokenizer
from training.executor.examples import examples_of

_ALFWORLD = Training(
    "executor",
    "Executor policy",
    lambda games: (
        "It chooses the next command of an ALFWorld game among the admissible ones by likelihood. It learnt from"
        f" {games} train games that the offline planner won; nothing of a game's solution was used. A quarter of the"
        " steps had the right command as advice, a quarter one of another game, the others none."
    ),
)


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
    add_training_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Train, write the adapter and its card; return the exit status.

    Raises:
        ResourceMissingError: the extra `learning` is not installed.
        InvalidValueError: no game was won, or the checkpoint is of another run.
    """
    transcripts = [row for path in args.transcripts for row in read_transcripts(path)]

    def examples(tokenizer: Tokenizer) -> Sequence[Example]:
        return examples_of(transcripts, tokenizer, args.tokens, args.seed)

    return train_adapter(args, _ALFWORLD, examples)

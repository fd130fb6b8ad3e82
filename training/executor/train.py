"""`memory-node train executor`: trains an adapter that chooses a text game's next command."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from benchmarks.alfworld.policy import read_transcripts
from training.adapters.command import Training, add_training_arguments, train_adapter
from training.adapters.example import Example, Tokenizer
from training.executor.practice import PractisedGame, examples_of, read_games

_ALFWORLD = Training(
    "executor",
    "Executor policy",
    lambda examples: (
        "It chooses the next command of a text game among the admissible ones by likelihood. It learnt from"
        f" {examples} examples of train games that our planner or our rules won; nothing of a game's solution was used."
    ),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--transcripts",
        type=Path,
        nargs="+",
        default=(),
        metavar="FILE",
        help="the planner's games, as `memory-node bench alfworld --transcripts` writes them",
    )
    parser.add_argument(
        "--practice",
        type=Path,
        nargs="+",
        default=(),
        metavar="FILE",
        help="games with mistakes, as `memory-node train executor-games` writes them",
    )
    add_training_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Train, write the adapter and its card; return the exit status.

    Raises:
        InvalidValueError: there is nothing to learn from, or the checkpoint is of another run.
    """
    return train_adapter(args, _ALFWORLD, lambda tokenizer: _of_games(args, tokenizer))


def _of_games(args: argparse.Namespace, tokenizer: Tokenizer) -> Sequence[Example]:
    won = (row for path in args.transcripts for row in read_transcripts(path) if row["won"])
    games = [PractisedGame.without_mistakes(row) for row in won]
    games += [game for path in args.practice for game in read_games(path)]
    return list(examples_of(games, tokenizer, args.tokens, args.seed))

"""`memory-node train softmem`: trains what the compiler says in latent tokens, through a frozen executor."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from memory_node.domain.errors import InvalidValueError
from memory_node.llm.llama.model import FILLER
from training.adapters.adapter import save_adapter
from training.adapters.base_model import open_base
from training.adapters.command import add_training_arguments
from training.adapters.example import Tokenizer
from training.adapters.learning import Progress, Schedule, learn, write_card
from training.adapters.processes import begin, is_first, tell
from training.compiler.teacher import read_pairs
from training.softmem.soft_memory import save_soft_memory
from training.softmem.soft_pair import SoftExample, SoftPair, open_pair, soft_example

# Of a reply. Behind its tokens the compiler tells more of its goal than behind [UNK].
_FORM = '"goal":"GoTo(kettle 1, sink 1)'
_TOLD = (
    "It says in latent tokens what the compiler of memory says in words, to an executor that was trained without them."
    " It learnt from {} steps of train games that were won by following the rules. In every second one the executor was"
    " not told the words."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--pairs", type=Path, nargs="+", required=True, metavar="FILE", help="of `train compiler-pairs`"
    )
    parser.add_argument(
        "--compiler", type=Path, required=True, metavar="FILE", help="of `train compiler`: checkpoint or adapter"
    )
    parser.add_argument(
        "--executor", type=Path, required=True, metavar="FILE", help="of `train executor`: checkpoint or adapter"
    )
    parser.add_argument("--soft-tokens", type=int, default=16, metavar="N", help="latent tokens (default 16)")
    add_training_arguments(parser, rate=1e-4, tokens=1200)


def run(args: argparse.Namespace) -> int:
    """Train, write the soft memory, the compiler's adapter and the card; return the exit status.

    Raises:
        InvalidValueError: there is nothing to learn from, or a file does not fit.
    """
    begin(args.seed, args.threads)
    schedule = Schedule(args.epochs, args.rate, args.examples_per_update, args.minutes, args.seed, args.bfloat16)
    progress = Progress()
    try:
        base = open_base(args.model, args.threads)
        examples = _examples(args, base.tokens)
        pair = open_pair(base, args, _FORM, base.tokens.reply(FILLER)[0])
        args.out.mkdir(parents=True, exist_ok=True)
        for progress in learn(pair, examples, schedule, args.out / "checkpoint.pt", SoftPair.loss):
            taken, loss = progress.losses[-1]
            tell(f"{taken} examples, loss {loss:.4f}")
    except ValueError as error:
        raise InvalidValueError(str(error)) from error
    if is_first():
        path = args.out / "full.npz"
        save_soft_memory(pair.soft, path)
        save_adapter(pair.compiler, base.adapter_path(args.out, "compiler"))
        kind, told = f"A soft memory ({path.stat().st_size / 1e6:.1f} MB)", _TOLD.format(len(examples))
        command = f"memory-node {shlex.join(sys.argv[1:])}"
        write_card(args.out / "card.md", "Soft memory", told, kind, command, schedule, progress)
        print(args.out)
    return 0


def _examples(args: argparse.Namespace, tokens: Tokenizer) -> Sequence[SoftExample]:
    pairs = (pair for path in args.pairs for pair in read_pairs(path))
    found = (soft_example(pair, tokens, args.tokens, number % 2 == 0) for number, pair in enumerate(pairs))
    examples = [example for example in found if example is not None][: args.limit or None]
    if not examples:
        raise InvalidValueError("no pair says what the executor was told: write them anew")
    return examples

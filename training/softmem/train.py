"""`memory-node train softmem`: trains what the compiler says in latent tokens, through a frozen executor."""

from __future__ import annotations

import argparse
import itertools
import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import astuple
from pathlib import Path
from typing import Any

from memory_node.domain.errors import InvalidValueError, ResourceMissingError
from memory_node.llm.llama.model import FILLER
from training.adapters.command import NEEDED, add_training_arguments
from training.adapters.example import Tokenizer
from training.compiler.pair_files import read_pairs
from training.softmem.pairs import VARIANTS

# Of a reply. Behind its tokens the compiler tells more of its goal than behind [UNK].
_FORM = '"goal":"GoTo(kettle 1, sink 1)'
# Steps that the card's losses are means of, the first of the file.
_MEASURED = 24
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
    parser.add_argument(
        "--variants", nargs="+", choices=VARIANTS, default=["full"], help="which soft memories (default: full)"
    )
    parser.add_argument(
        "--keep-compiler",
        action="store_true",
        help="leave the compiler's adapter as it is, and train the soft memory alone (several variants need this)",
    )
    parser.add_argument(
        "--held-out",
        type=Path,
        metavar="FILE",
        help="pairs of other games: the executor's loss on them goes into the card, with and without latent tokens",
    )
    add_training_arguments(parser, rate=1e-4, tokens=1200)


def run(args: argparse.Namespace) -> int:
    """Train, write soft memories, the compiler's adapter if it learnt, and the card; return the exit status.

    Raises:
        ResourceMissingError: the extra `learning` is not installed.
        InvalidValueError: there is nothing to learn from, or a file does not fit.
    """
    if len(args.variants) > 1 and not args.keep_compiler:
        raise InvalidValueError("several variants share one compiler, so it cannot learn: add --keep-compiler")
    try:
        from training.adapters.base_model import open_base
        from training.adapters.processes import begin
        from training.softmem.pairs import PairModels, open_models
    except ImportError as error:
        raise ResourceMissingError(f"{NEEDED} ({error})") from error
    begin(args.seed, args.threads)
    try:
        base = open_base(args.model, args.threads)
        tokens = base.tokens
        examples = _examples(args, tokens)
        opened = open_models(base, args.rank, args.compiler, args.executor, args.keep_compiler)
        form = tokens.reply(_FORM)[:-1]
        models = PairModels(*opened, tokens.reply(FILLER)[0], form)
        _train(args, base, models.together(args.variants), examples)
    except ValueError as error:
        raise InvalidValueError(str(error)) from error
    return 0


def _train(args: argparse.Namespace, base: Any, together: Any, examples: Sequence[Any]) -> None:
    """Train pairs side by side, and write what came of it."""
    from training.adapters.card import write_card
    from training.adapters.learning import Schedule
    from training.adapters.processes import is_first

    folder = args.out
    folder.mkdir(parents=True, exist_ok=True)
    schedule = Schedule(args.epochs, args.rate, args.examples_per_update, args.minutes, args.seed, args.bfloat16)
    progress = _learnt(together, examples, schedule, folder / "checkpoint.pt")
    if is_first():
        kind = f"A soft memory ({_write(base, together, folder) / 1e6:.1f} MB)"
        command = f"memory-node {shlex.join(sys.argv[1:])}"
        told = "\n\n".join((_TOLD.format(len(examples)), *_measured(args, together, base.tokens)))
        write_card(folder / "card.md", "Soft memory", told, kind, command, schedule, progress)
        print(folder)


def _examples(args: argparse.Namespace, tokens: Tokenizer) -> Sequence[Any]:
    from training.softmem.soft_example import soft_example

    pairs = (pair for path in args.pairs for pair in read_pairs(path))
    found = (soft_example(pair, tokens, args.tokens, number % 2 == 0) for number, pair in enumerate(pairs))
    examples = [example for example in found if example is not None][: args.limit or None]
    if not examples:
        raise InvalidValueError("no pair says what the executor was told: write them anew")
    return examples


def _learnt(together: Any, examples: Sequence[Any], schedule: Any, checkpoint: Path) -> Any:
    """Learn for a schedule, tell how it goes, and return the progress."""
    from training.adapters.learning import Progress, learn
    from training.adapters.processes import tell
    from training.softmem.soft_pair import SideBySide

    progress = Progress()
    for progress in learn(together, examples, schedule, checkpoint, SideBySide.loss):
        taken, loss = progress.losses[-1]
        tell(f"{taken} examples, loss {loss / len(together.pairs):.4f}")
    return progress


def _measured(args: argparse.Namespace, together: Any, tokens: Tokenizer) -> Iterator[str]:
    """Yield the table of losses on the pairs that are held out."""
    from training.softmem.measured import executor_losses, told_apart
    from training.softmem.soft_example import soft_example

    if args.held_out is None:
        return
    both = (
        (soft_example(one, tokens, args.tokens), soft_example(one, tokens, args.tokens, in_words=False))
        for one in read_pairs(args.held_out)
    )
    whole = ((told, untold) for told, untold in both if told is not None and untold is not None)
    steps = list(itertools.islice(whole, _MEASURED))
    columns = ("soft memory", "words", "words and latent tokens", "brief state", "latent tokens alone")
    rows = [f"| {' | '.join(columns)} |", "|---|---|---|---|---|"]
    for name, pair in together.pairs.items():
        found = executor_losses(pair, steps)
        rows.append(f"| {name} | " + " | ".join(f"{loss:.3f}" for loss in astuple(found)) + " |")
    yield f"The executor's loss of a token of the right command, {len(steps)} steps of other games:"
    yield "\n".join(rows)
    for name, pair in together.pairs.items():
        share = told_apart(pair, [told for told, _ in steps])
        if share is not None:
            yield f"{name}: things of one name are told apart in {share:.3f} of the cases (by chance 0.5)."


def _write(base: Any, together: Any, folder: Path) -> int:
    """Write what was learnt; return the bytes of the largest soft memory."""
    from training.adapters.adapter import save_adapter
    from training.softmem.weights import save_soft_memory

    size = 0
    for name, pair in together.pairs.items():
        path = folder / f"{name}.npz"
        save_soft_memory(pair.soft, path)
        size = max(size, path.stat().st_size)
        if pair.learns_text:
            save_adapter(pair.compiler, base.adapter_path(folder, "compiler"))
    return size

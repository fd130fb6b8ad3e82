"""`memory-node train softmem`: trains what the compiler says in latent tokens, through a frozen executor."""

from __future__ import annotations

import argparse
from pathlib import Path

from memory_node.domain.errors import InvalidValueError, ResourceMissingError
from memory_node.llm.config import ModelConfig
from memory_node.llm.gguf_files import model_file
from memory_node.llm.llama.shared_model import LlamaEngine
from training.adapters.command import NEEDED, add_training_arguments
from training.adapters.example import ModelTokens
from training.compiler.pair_files import read_pairs

_WINDOW_TOKENS = 4096


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--pairs", type=Path, nargs="+", required=True, metavar="FILE", help="of `train compiler-pairs --on alfworld`"
    )
    parser.add_argument("--compiler", type=Path, required=True, metavar="FILE", help="checkpoint of `train compiler`")
    parser.add_argument("--executor", type=Path, required=True, metavar="FILE", help="checkpoint of `train executor`")
    parser.add_argument("--soft-tokens", type=int, default=16, help="latent tokens N (default 16)")
    parser.add_argument("--linear", action="store_true", help="one linear projection, for comparison")
    add_training_arguments(parser, rate=1e-4, tokens=1200)


def run(args: argparse.Namespace) -> int:
    """Train and keep the checkpoint; return the exit status.

    Raises:
        ResourceMissingError: the extra `learning` is not installed.
        InvalidValueError: there is nothing to learn from, or a checkpoint does not fit.
    """
    try:
        from training.adapters.adapter import adapted_model
        from training.adapters.checkpoint import load_weights
        from training.adapters.learning import Schedule, learn
        from training.adapters.processes import begin, device, tell
        from training.softmem.soft_memory import SoftMemory
        from training.softmem.soft_pair import SoftPair, soft_example
    except ImportError as error:
        raise ResourceMissingError(f"{NEEDED} ({error})") from error
    begin(args.seed, args.threads)
    file = model_file(ModelConfig(backend="llama", model_path=args.model))
    tokens = ModelTokens(LlamaEngine(file, _WINDOW_TOKENS, args.threads))
    pairs = (pair for path in args.pairs for pair in read_pairs(path))
    found = (soft_example(pair, tokens, args.tokens) for pair in pairs)
    examples = [example for example in found if example is not None][: args.limit or None]
    if not examples:
        raise InvalidValueError("no pair says what the executor was told: take those of --on alfworld")
    args.out.mkdir(parents=True, exist_ok=True)
    compiler, executor = adapted_model(file, args.rank), adapted_model(file, args.rank)
    width = compiler.config.hidden_size
    try:
        load_weights(compiler, args.compiler)
        load_weights(executor, args.executor)
        pair = SoftPair(compiler, executor, SoftMemory(width, width, args.soft_tokens, args.linear)).to(device())
        schedule = Schedule(args.epochs, args.rate, minutes=args.minutes, seed=args.seed)
        checkpoint = args.out / "checkpoint.pt"
        for progress in learn(pair, examples, schedule, checkpoint, lambda model, one: model.losses(one).total):
            taken, loss = progress.losses[-1]
            tell(f"{taken} examples, loss {loss:.4f}")
    except ValueError as error:
        raise InvalidValueError(str(error)) from error
    print(checkpoint)
    return 0

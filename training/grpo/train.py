"""`memory-node train grpo`: reinforces compiler and soft memory by the success of a frozen executor in text games."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from benchmarks.alfworld.attempts import Attempts
from benchmarks.alfworld.compiled import goals_reader
from benchmarks.alfworld.compiled_aid import CompiledAids
from benchmarks.alfworld.engine import PddlEngine, require_engine
from benchmarks.alfworld.games import load_games
from benchmarks.alfworld.learnt import Learnt
from benchmarks.alfworld.open_world import for_text_games
from benchmarks.alfworld.transcripts import read_transcripts
from benchmarks.compiler_variants import TEXT
from memory_node.catalogue.label_space import load_catalogue
from memory_node.context.config import CompilerModelConfig
from memory_node.context.guidance import Compiler
from memory_node.domain.errors import InvalidValueError, ResourceMissingError
from memory_node.llm.config import ModelConfig
from memory_node.llm.gguf_files import model_file
from memory_node.llm.llama.shared_model import LlamaEngine
from memory_node.search.caching_embedder import CachingEmbedder
from memory_node.search.minilm import MiniLmEmbedder
from training.adapters.command import NEEDED
from training.adapters.example import ModelTokens

_WINDOW_TOKENS = 4096
_STEP_S = 600.0


class ModelSpeller(ModelTokens):
    """ModelTokens that are written as text, too."""

    def __init__(self, engine: LlamaEngine) -> None:
        super().__init__(engine)
        self.end = engine.template.end
        self._vocabulary = engine.native.vocabulary

    def text(self, tokens: Sequence[int]) -> str:
        """Return the text of tokens."""
        return b"".join(self._vocabulary.piece(token) for token in tokens).decode("utf-8", "replace")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--games", type=Path, required=True, metavar="FILE|DIR", help="train games")
    parser.add_argument("--from", dest="memory_file", type=Path, metavar="FILE", help="memory learnt before")
    parser.add_argument("--attempts", type=Path, metavar="FILE", help="transcripts of games to remember")
    parser.add_argument("--pair", type=Path, required=True, metavar="FILE", help="checkpoint of `train softmem`")
    parser.add_argument("--executor", type=Path, required=True, metavar="FILE", help="checkpoint of `train executor`")
    parser.add_argument("--out", type=Path, required=True, help="folder for checkpoint and curve")
    parser.add_argument("--model", default="", help="GGUF file of the model (default: the embedded one)")
    parser.add_argument("--rank", type=int, default=8, help="of the adapters' matrices (default 8)")
    parser.add_argument("--soft-tokens", type=int, default=16, help="latent tokens N (default 16)")
    parser.add_argument("--linear", action="store_true", help="one linear projection, for comparison")
    parser.add_argument("--limit", type=int, default=0, help="of games (default: all)")
    parser.add_argument("--updates", type=int, default=500)
    parser.add_argument("--tasks", type=int, default=4, help="of an update (default 4)")
    parser.add_argument("--rollouts", type=int, default=4, help="of a task (default 4)")
    parser.add_argument("--rate", type=float, default=1e-6, help="learning rate (default 1e-6)")
    parser.add_argument("--max-steps", type=int, default=15, help="commands in a game (default 15)")
    parser.add_argument("--reply-tokens", type=int, default=512, help="of a compiler's reply at most (default 512)")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)


def run(args: argparse.Namespace) -> int:
    """Reinforce; return the exit status.

    Raises:
        ResourceMissingError: the extra `learning` or `alfworld` is not installed.
        InvalidValueError: a checkpoint does not fit.
    """
    try:
        from training.adapters.adapter import adapted_model
        from training.adapters.checkpoint import load_weights
        from training.adapters.processes import begin, device, tell
        from training.grpo.games import GameRollouts
        from training.grpo.learning import GrpoSchedule, reinforce
        from training.softmem.soft_memory import SoftMemory
        from training.softmem.soft_pair import SoftPair
    except ImportError as error:
        raise ResourceMissingError(f"{NEEDED} ({error})") from error
    require_engine()
    begin(args.seed, args.threads)
    file = model_file(ModelConfig(backend="llama", model_path=args.model))
    compiler, executor = adapted_model(file, args.rank), adapted_model(file, args.rank)
    width = compiler.config.hidden_size
    args.out.mkdir(parents=True, exist_ok=True)
    games = load_games(args.games, args.limit, args.seed)
    kinds, embedder = for_text_games(load_catalogue()), CachingEmbedder(MiniLmEmbedder())
    transcripts = read_transcripts(args.attempts) if args.attempts is not None else ()
    library = Attempts.of(transcripts, kinds, goals_reader(kinds, embedder))

    def aid_of(compiler: Compiler) -> CompiledAids:
        return CompiledAids(kinds, embedder, compiler, library, TEXT, args.max_steps)

    try:
        load_weights(executor, args.executor)
        pair = SoftPair(compiler, executor, SoftMemory(width, width, args.soft_tokens, args.linear)).to(device())
        load_weights(pair, args.pair)
        schedule = GrpoSchedule(args.updates, args.tasks, args.rollouts, args.rate, seed=args.seed)
        speller = ModelSpeller(LlamaEngine(file, _WINDOW_TOKENS, args.threads))
        config = CompilerModelConfig(timeout_s=_STEP_S, max_reply_tokens=args.reply_tokens)
        with Learnt(args.memory_file, learns=False) as learnt:
            play = GameRollouts(
                pair,
                speller,
                games,
                learnt.census,
                aid_of,
                PddlEngine,
                schedule.temperature,
                args.max_steps,
                config,
            )
            for curve in reinforce(pair, play, len(games), schedule, args.out / "checkpoint.pt"):
                tell(f"update {curve.updates}: {curve.rewards[-1]:.3f} won")
    except ValueError as error:
        raise InvalidValueError(str(error)) from error
    print(args.out / "checkpoint.pt")
    return 0

"""`memory-node train diagnosis`: draws the attention that memory gets at each step, and where latent tokens lie."""

from __future__ import annotations

import argparse
import itertools
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.alfworld.compiled_aid import CompiledSetting, compiled_aids
from benchmarks.alfworld.engine import require_engine
from benchmarks.alfworld.games import load_games
from benchmarks.alfworld.learnt import Learnt
from benchmarks.alfworld.open_world import for_text_games
from benchmarks.alfworld.policy import PolicyPlayer
from benchmarks.alfworld.shipped_policy import ADAPTER, COMPILER
from benchmarks.compiler_variants import STATIC, TEXT
from memory_node.catalogue.label_space import load_catalogue
from memory_node.context.soft_memory import adapter_of
from memory_node.domain.errors import InvalidValueError, ResourceMissingError
from memory_node.llm.config import ModelConfig
from memory_node.llm.fitted_wording import FILLER
from memory_node.llm.open_model import ModelShelf
from memory_node.planner.step_chooser import RankedChoice
from memory_node.search.caching_embedder import CachingEmbedder
from memory_node.search.minilm import MiniLmEmbedder
from training.adapters.command import NEEDED
from training.compiler.pair_files import read_pairs
from training.grpo.games import STEP_S

_ROWS = (STATIC, TEXT)
_WINDOW_TOKENS = 4096


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--games", type=Path, required=True, metavar="FILE|DIR", help="text games to play")
    parser.add_argument("--from", dest="memory_file", type=Path, metavar="FILE", help="memory learnt before")
    parser.add_argument("--attempts", type=Path, metavar="FILE", help="transcripts of games to remember")
    parser.add_argument("--pairs", type=Path, metavar="FILE", help="of `train compiler-pairs`, for --soft")
    parser.add_argument("--executor", type=Path, default=ADAPTER, metavar="FILE", help="adapter (default: ours)")
    parser.add_argument("--compiler", type=Path, default=COMPILER, metavar="FILE", help="adapter (default: ours)")
    parser.add_argument(
        "--soft", type=Path, metavar="FILE", help="of `train softmem`: draw the states of its latent tokens, too"
    )
    parser.add_argument("--limit", type=int, default=6, help="games (default 6)")
    parser.add_argument("--states", type=int, default=100, help="pairs whose states are drawn (default 100)")
    parser.add_argument("--max-steps", type=int, default=30, help="commands in a game (default 30)")
    parser.add_argument("--rank", type=int, default=8, help="of the adapters' matrices (default 8)")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True, help="folder for attention.png, attention.json, states.png")


def run(args: argparse.Namespace) -> int:
    """Play, compute and draw; return the exit status.

    Raises:
        ResourceMissingError: the extra `learning` or `alfworld` is not installed.
        InvalidValueError: an adapter does not fit.
    """
    if (args.soft is None) is not (args.pairs is None):
        raise InvalidValueError("--soft and --pairs belong together: whose states are drawn, and of which steps")
    require_engine()
    args.out.mkdir(parents=True, exist_ok=True)
    try:
        import sklearn  # noqa: F401
        import torch

        torch.set_num_threads(args.threads)
        _attention(args)
        if args.soft is not None:
            _states(args)
    except ImportError as error:
        raise ResourceMissingError(f"{NEEDED} ({error})") from error
    except ValueError as error:
        raise InvalidValueError(str(error)) from error
    print(args.out)
    return 0


def _attention(args: argparse.Namespace) -> None:
    from training.adapters.adapter import load_adapter
    from training.adapters.base_model import open_base
    from training.adapters.text_model import inner
    from training.diagnosis.attention import mean_logit, memory_tokens
    from training.diagnosis.pictures import draw_attention
    from training.diagnosis.watched import Watch

    config = ModelConfig(backend="llama", threads=args.threads, adapter_path=str(args.executor))
    model = ModelShelf().open_in_process(config)
    base = open_base("", args.threads)
    torch_model = base.adapted(args.rank)
    load_adapter(torch_model, args.executor)
    kinds, embedder = for_text_games(load_catalogue()), CachingEmbedder(MiniLmEmbedder())
    found: dict[str, Any] = {}
    with Learnt(args.memory_file, learns=False) as learnt:
        for row in _ROWS:
            setting = CompiledSetting(row, "rules", attempts=args.attempts, seed=args.seed)
            watch = Watch(RankedChoice(model), compiled_aids(setting, kinds, embedder, args.max_steps))
            for game in load_games(args.games, args.limit, args.seed):
                PolicyPlayer(watch, args.max_steps, STEP_S, watch.open).play(game, learnt.census)
            found[row] = defaultdict(list)
            for prompt in watch.prompts:
                tokens, places = memory_tokens(prompt.messages, prompt.memory, base.tokens)
                found[row][prompt.step].append(mean_logit(inner(torch_model), tokens, places))
    draw_attention(found, args.out / "attention.png")
    (args.out / "attention.json").write_text(json.dumps(found) + "\n", "utf-8")


def _states(args: argparse.Namespace) -> None:
    import torch

    from training.adapters.adapter import load_adapter, with_loaded_adapter
    from training.adapters.base_model import open_base
    from training.diagnosis.pictures import draw_states
    from training.softmem.soft_example import soft_example
    from training.softmem.soft_pair import SoftPair
    from training.softmem.weights import load_soft_memory

    base = open_base("", args.threads)
    tokens, compiler = base.tokens, base.adapted(args.rank)
    load_adapter(compiler, args.compiler)
    compiler = compiler.merge_and_unload().requires_grad_(False)
    adapter = adapter_of(args.soft)
    compiler = with_loaded_adapter(compiler, adapter) if adapter is not None else compiler
    neutral = tokens.reply(FILLER)[0]
    soft_pair = SoftPair(
        compiler, compiler, load_soft_memory(args.soft), neutral=neutral, activated=adapter is not None
    )
    soft: list[Any] = []
    text: list[Any] = []
    examples = (soft_example(pair, tokens, _WINDOW_TOKENS) for pair in read_pairs(args.pairs))
    for one in itertools.islice(filter(None, examples), args.states):
        with torch.no_grad():
            read = soft_pair.read(one.prompt, one.reply, one.wording)
        soft.append(read.behind.mean(0).numpy())
        text.append(read.states.mean(0).numpy())
    draw_states({"latent tokens": np.array(soft), "text": np.array(text)}, args.seed, args.out / "states.png")

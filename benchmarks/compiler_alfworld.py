"""The rows of `bench compiler --on alfworld`: one frozen executor, memory compiled in several ways."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks.alfworld.command import Setting, play_all
from benchmarks.alfworld.compiled_aid import CompiledSetting
from benchmarks.alfworld.engine import require_engine
from benchmarks.alfworld.games import load_games
from benchmarks.alfworld.learnt import Learnt
from benchmarks.alfworld.play import CompilingAccount, PlayedGame
from benchmarks.alfworld.shipped_policy import with_shipped_adapter
from benchmarks.alfworld.transcripts import TranscriptFile
from benchmarks.averages import mean_of, median_of
from benchmarks.compiler_variants import NONE, OF_COMPILERS, STATIC
from benchmarks.model_figures import llm_config
from memory_node.context.config import CompilerConfig

ALFWORLD_VARIANTS = (NONE, STATIC, *OF_COMPILERS)


def rows_of_alfworld(
    args: argparse.Namespace, variants: Sequence[str], config: CompilerConfig
) -> Iterator[dict[str, Any]]:
    """Yield the rows, each as soon as it is measured.

    Raises:
        ResourceMissingError: the engine is not installed.
        NotFoundError: a file is not there.
    """
    require_engine()
    games = load_games(args.games, args.limit, args.seed)
    model = with_shipped_adapter(llm_config(args))
    with Learnt(args.memory_file, learns=False) as learnt:
        for variant in variants:
            for name in args.compilers if variant in OF_COMPILERS else ("none",):
                who = "rules" if name == "none" else name
                compiled = CompiledSetting(variant, who, config, args.attempts, args.seed)
                setting = Setting("executor", args.max_steps, model, compiled=None if variant == NONE else compiled)
                [played] = play_all(
                    [games], setting, args.jobs, None if variant == NONE else learnt, TranscriptFile(None)
                )
                yield row_of(variant, name, played)


def row_of(variant: str, compiler: str, games: Sequence[PlayedGame]) -> dict[str, Any]:
    """Return the row of some games. A game that was lost is not won; progress is not told by the engine."""
    played = [game for game in games if not game.lost]
    compiling = CompilingAccount.of_all(game.compiling for game in played if game.compiling is not None)
    # Every command counts the same, whichever game it was sent in.
    steps = sum(game.steps for game in played) or 1
    return {
        "variant": variant,
        "compiler": compiler,
        "tasks": len(games),
        "success_rate": round(sum(game.won for game in games) / max(len(games), 1), 4),
        "progress": None,
        "steps_mean": round(steps / max(len(played), 1), 2),
        "executor_input_tokens": round(sum(game.prompt_tokens * game.steps for game in played) / steps, 1),
        "compiler_tokens": mean_of(compiling.tokens, 1) or 0.0,
        "executor_output_tokens": round(sum(game.reply_tokens * game.steps for game in played) / steps, 1),
        "executor_ms": median_of([ms for game in played for ms in game.step_ms], 2) or 0.0,
        "compiler_ms": median_of(compiling.milliseconds, 2) or 0.0,
        "guidance_precision": mean_of(compiling.precise),
        "noaction_share": mean_of(compiling.nothing),
    }

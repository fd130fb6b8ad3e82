"""A row of `bench compiler` on text worlds: its columns, which are the same on each of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.alfworld.play import CompilingAccount, PlayedGame
from benchmarks.averages import mean_of, median_of


def row_of(variant: str, compiler: str, games: Sequence[PlayedGame], progress: Sequence[float] = ()) -> dict[str, Any]:
    """Return the row of some games. A game that was lost is not won.

    progress: the share of each task that was done, in [0, 1]; () where the engine tells none.
    """
    played = [game for game in games if not game.lost]
    compiling = CompilingAccount.of_all(game.compiling for game in played if game.compiling is not None)
    # Every command counts the same, whichever game it was sent in.
    sent = sum(game.steps for game in played)
    steps = max(sent, 1)
    return {
        "variant": variant,
        "compiler": compiler,
        "tasks": len(games),
        "success_rate": round(sum(game.won for game in games) / max(len(games), 1), 4),
        "progress": mean_of(progress),
        "steps_mean": round(sent / max(len(played), 1), 2),
        "executor_input_tokens": round(sum(game.prompt_tokens * game.steps for game in played) / steps, 1),
        "compiler_tokens": mean_of(compiling.tokens, 1) or 0.0,
        "executor_output_tokens": round(sum(game.reply_tokens * game.steps for game in played) / steps, 1),
        "executor_ms": median_of([ms for game in played for ms in game.step_ms], 2) or 0.0,
        "compiler_ms": median_of(compiling.milliseconds, 2) or 0.0,
        "guidance_precision": mean_of(compiling.precise),
        "noaction_share": mean_of(compiling.nothing),
    }

"""Rows of the benchmark: one for each task type and one for all."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.alfworld.play import PlayedGame

ALL = "all"


def rows_of(orders: Sequence[Sequence[PlayedGame]]) -> list[dict[str, Any]]:
    """Return the rows of one or several passes over the same games; a game that was lost is a failure."""
    types = sorted({game.task_type for games in orders for game in games})
    return [_row(name, [_of_type(games, name) for games in orders]) for name in (*types, ALL)]


def _of_type(games: Sequence[PlayedGame], name: str) -> list[PlayedGame]:
    return [game for game in games if name in (ALL, game.task_type)]


def _row(name: str, orders: Sequence[Sequence[PlayedGame]]) -> dict[str, Any]:
    games = [game for order in orders for game in order]
    played = [game for game in games if not game.lost]
    steps = [game.steps for game in played] or [0]
    step_ms = [ms for game in played for ms in game.step_ms]
    return {
        "task_type": name,
        "games": len(games),
        "lost": len(games) - len(played),
        "success_rate": round(sum(game.won for game in games) / max(len(games), 1), 4),
        "steps_mean": round(statistics.fmean(steps), 2),
        "steps_p95": round(float(np.percentile(steps, 95)), 1),
        "searches_mean": round(statistics.fmean([game.searched for game in played] or [0]), 2),
        "prompt_tokens_mean": round(statistics.fmean([game.prompt_tokens for game in played] or [0]), 1),
        "ms_per_step_p50": round(statistics.median(step_ms), 2) if step_ms else 0.0,
        "cumulative_success": cumulative(orders),
    }


def cumulative(orders: Sequence[Sequence[PlayedGame]]) -> list[float]:
    """Return the share of games won among the first n, for n from 1 on, the mean over the orders."""
    shares = [np.cumsum([game.won for game in order]) / np.arange(1, len(order) + 1) for order in orders if order]
    return [round(float(share), 4) for share in np.mean(shares, axis=0)] if shares else []

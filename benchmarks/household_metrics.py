"""The household benchmark's figures, as KARMA defines them, by category and over all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.averages import share_of
from benchmarks.household_errors import error_counts
from benchmarks.household_life import Trial
from benchmarks.model_figures import model_figures


def rows_of(trials: Sequence[Trial], baseline: Sequence[Trial] | None) -> list[dict[str, Any]]:
    """Return one row a category and one for "all"; baseline: the same cases without memory, None leaves them out."""
    categories = list(dict.fromkeys(trial.case.category for trial in trials))
    rows = []
    for category in [*categories, "all"]:
        chosen = [trial for trial in trials if category in (trial.case.category, "all")]
        names = {trial.case.id for trial in chosen}
        without = None if baseline is None else [trial for trial in baseline if trial.case.id in names]
        rows.append(_row(category, chosen, without))
    return rows


def _row(category: str, trials: Sequence[Trial], baseline: Sequence[Trial] | None) -> dict[str, Any]:
    lookups = sum(len(trial.result.lookups) for trial in trials)
    return {
        "category": category,
        "tasks": len(trials),
        "success_rate": share_of(sum(trial.success for trial in trials), len(trials)),
        "goal_condition_rate": share_of(sum(trial.met for trial in trials), sum(trial.conditions for trial in trials)),
        "memory_retrieval_accuracy": share_of(
            sum(trial.recalls_right for trial in trials), sum(trial.recalls for trial in trials)
        ),
        "lookup_accuracy": share_of(
            sum(trial.lookups_right for trial in trials), sum(trial.lookups_needed for trial in trials)
        ),
        "memory_hit_rate": share_of(sum(trial.result.lookups_hit for trial in trials), lookups),
        "reduced_exploration": _reduced([trial.result.explorations for trial in trials], baseline, "explorations"),
        "reduced_time": _reduced([trial.result.skill_s for trial in trials], baseline, "skill_s"),
        "skills_mean": share_of(sum(trial.result.skills for trial in trials), len(trials)),
        "distance_mean_m": share_of(sum(trial.result.distance_m for trial in trials), len(trials)),
        "context_tokens_mean": share_of(sum(trial.context_tokens for trial in trials), len(trials)),
        "errors": error_counts(trials),
        **model_figures(trials),
    }


def _reduced(values: Sequence[float], baseline: Sequence[Trial] | None, name: str) -> float | None:
    if baseline is None:
        return None
    before = sum(float(getattr(trial.result, name)) for trial in baseline)
    return round(1.0 - sum(values) / before, 4) if before else None

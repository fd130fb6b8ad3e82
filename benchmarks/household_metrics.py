"""The household benchmark's figures, as KARMA defines them, by category and over all."""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Sequence
from typing import Any

from benchmarks.household_life import Trial
from benchmarks.model_figures import model_figures
from benchmarks.rows import share_of
from memory_node.domain.skill import FailureReason

_PERCEPTION = frozenset({FailureReason.NOT_FOUND, FailureReason.NOT_VISIBLE, FailureReason.WRONG_OBJECT})
_EXECUTION = frozenset(
    {FailureReason.UNREACHABLE, FailureReason.EXECUTION, FailureReason.TIMEOUT, FailureReason.CANCELED}
)


class ErrorKind(str, enum.Enum):
    """What an instruction failed of; the first that fits."""

    QUESTION = "question"  # the robot asked instead
    NO_PLAN = "no_plan"  # nothing was begun: the instruction was not understood, or no reply could be used
    WRONG_TERMINATION = "wrong_termination"  # reasoning: the planner takes for done what is not
    PERCEPTION = "perception"  # the last failed skill did not find its thing, or had a wrong one
    PLANNING = "planning"  # the last failed skill lacked a step before it, or could not be called so
    EXECUTION = "execution"  # the last failed skill failed by itself
    UNFINISHED = "unfinished"  # no skill failed, and the steps or the time ran out

    def __str__(self) -> str:
        return self.value


def error_counts(trials: Sequence[Trial]) -> dict[str, int]:
    """Return how many trials failed of each kind, without those that none did."""
    kinds = Counter(error_of(trial) for trial in trials if not trial.success)
    return {str(kind): kinds[kind] for kind in ErrorKind if kinds[kind]}


def error_of(trial: Trial) -> ErrorKind:
    """Return what a failed trial failed of."""
    result = trial.result
    if result.outcome.question:
        return ErrorKind.QUESTION
    if not result.steps:
        return ErrorKind.NO_PLAN
    if result.success:
        return ErrorKind.WRONG_TERMINATION
    reasons = [step.result.reason for step in result.steps if not step.result.success]
    if not reasons:
        return ErrorKind.UNFINISHED
    if reasons[-1] in _PERCEPTION:
        return ErrorKind.PERCEPTION
    return ErrorKind.EXECUTION if reasons[-1] in _EXECUTION else ErrorKind.PLANNING


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

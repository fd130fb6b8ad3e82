"""Why instructions failed, in the kinds of BrainMem's table of errors; told from the trial alone, without a judge."""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Sequence

from benchmarks.household_life import Trial
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

"""What failed instructions failed of."""

import pytest

from benchmarks.household_cases import Case
from benchmarks.household_life import Trial
from benchmarks.household_metrics import error_counts
from memory_node.domain.skill import FailureReason, SkillCall, SkillResult
from memory_node.planner.executor import ExecutedStep, InstructionResult
from memory_node.planner.planner import PlannedStep, PlanOutcome

R = FailureReason


def trial(*reasons: FailureReason, achieved: bool = False, question: str = "", met: int = 0) -> Trial:
    call = SkillCall("PickupObject", ("Mug",))
    steps = tuple(ExecutedStep(PlannedStep(call), SkillResult(call, one is R.NONE, one)) for one in reasons)
    outcome = PlanOutcome(("g",), (achieved,), question=question)
    case = Case("c1", "do it", "FloorPlan1", "simple", {})
    return Trial(case, InstructionResult("do it", outcome, steps, ()), met, 1, (), 0, 0, 0)


@pytest.mark.parametrize(
    ("failed", "kind"),
    [
        (trial(question="Which mug?"), "question"),
        (trial(), "no_plan"),
        (trial(R.NONE, achieved=True), "wrong_termination"),
        (trial(R.CLOSED, R.NONE, R.NOT_FOUND, R.NONE), "perception"),
        (trial(R.NOT_FOUND, R.CLOSED), "planning"),
        (trial(R.TIMEOUT), "execution"),
        (trial(R.NONE), "unfinished"),
    ],
)
def test_a_failure_has_one_kind(failed: Trial, kind: str) -> None:
    assert error_counts([failed]) == {kind: 1}


def test_successes_have_none() -> None:
    assert error_counts([trial(R.CLOSED, R.NONE, achieved=True, met=1)]) == {}

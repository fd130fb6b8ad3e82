import pytest

from benchmarks.household_cases import Case
from benchmarks.household_life import Trial
from benchmarks.model_figures import model_figures
from memory_node.domain.step import ModelCost
from memory_node.planner.executor import InstructionResult
from memory_node.planner.planner import PlanOutcome


def trial(planner: str, replies: int = 0, valid: int = 0, planning_s: float = 0.0) -> Trial:
    outcome = PlanOutcome(
        ("place",),
        (True,),
        planner=planner,
        cost=ModelCost(tokens_in=100 * replies, replies=replies),
        valid_replies=valid,
        replans=1,
        first_token_s=0.1 * replies,
    )
    case = Case("c1", "do it", "FloorPlan1", "simple", {})
    return Trial(case, InstructionResult("do it", outcome, (), (), planning_s=planning_s), 1, 1, (), 0, 0, 0)


def test_offline_trials_have_no_figures_of_a_model() -> None:
    assert model_figures([trial("offline")] * 3) == {}


def test_what_the_offline_planner_did_instead_is_told() -> None:
    figures = model_figures([trial("offline (fallback)", replies=4), trial("llm", 4, 3, planning_s=2.0)])
    assert figures["fallback_share"] == 0.5
    assert figures["valid_share"] == 0.375
    assert figures["planner_steps_mean"] == 4.0
    assert figures["replans_mean"] == 1.0
    assert figures["tokens_in_mean"] == 400.0
    assert figures["ms_per_step_p50"] == pytest.approx(250.0)
    assert figures["first_token_ms_p50"] == pytest.approx(400.0)

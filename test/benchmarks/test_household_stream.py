"""The stream of tasks under injected faults, and the executor that forgets."""

import json

import pytest

from benchmarks.household_faults import CarelessPlanner, Chances, Faults
from memory_node.cli import main
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.skill import SkillCall, SkillResult
from memory_node.planner.planner import PlannedStep, PlanningContext, PlanOutcome, PlanRun

STEPS = tuple(
    SkillCall(*call)
    for call in (
        ("GoToObject", ("Fridge@1,1,1",)),
        ("OpenObject", ("Fridge@1,1,1",)),
        ("PickupObject", ("Egg@1,1,1",)),
        ("PutObject", ("Egg", "Bowl")),
    )
)


class Listed:
    def __init__(self) -> None:
        self.heard: list[bool] = []

    def run(self, instruction: str, situation: PlanningContext) -> PlanRun:
        for call in STEPS:
            self.heard.append((yield PlannedStep(call)).success)
        return PlanOutcome(("g",), (True,))


def taken(faults: Faults, task: str = "a task") -> tuple[list[str], list[bool]]:
    inner = Listed()
    run = CarelessPlanner(inner, faults, Chances(0, task)).run("x", None)  # type: ignore[arg-type]
    done = []
    try:
        step = next(run)
        while True:
            done.append(step.call.skill)
            step = run.send(SkillResult(step.call, True))
    except StopIteration:
        return done, inner.heard


def test_forgotten_preparation_is_taken_for_done() -> None:
    assert taken(Faults(habits=1.0, by_habit=1.0)) == (["PickupObject", "PutObject"], [True] * 4)
    assert taken(Faults(habits=0.0, by_chance=0.0))[0] == [call.skill for call in STEPS]


def test_probability_out_of_range_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="by_habit"):
        Faults(by_habit=1.5)


def test_stream_has_a_row_for_each_part_that_is_asked_for(one_task, capsys) -> None:
    common = ["bench", "household", *one_task, "--json"]
    assert main([*common, "--faults", "--orders", "1", "--rows", "none", "+optimizer", "--trials"]) == 0
    told = capsys.readouterr()
    printed = {row["experience"]: row for row in map(json.loads, told.out.splitlines())}
    assert list(printed) == ["none", "+optimizer"]
    assert {row["orders"] for row in printed.values()} == {1}
    assert printed["+optimizer"]["success_rate"] >= printed["none"]["success_rate"]
    assert len([line for line in told.err.splitlines() if line.startswith(("ok ", "FAIL "))]) == 2


def test_experience_is_a_memory_of_its_own(one_task, rows_of) -> None:
    modes = ("experience", "full+experience")
    found = {mode: rows_of("household", *one_task, "--memory", mode, "--no-baseline")[-1] for mode in modes}
    # Objects are not remembered by experience alone, and have to be searched for.
    assert found["experience"]["memory_hit_rate"] == 0.0
    assert found["full+experience"]["memory_hit_rate"] > 0.0
    assert 0 < found["experience"]["context_tokens_mean"] < found["full+experience"]["context_tokens_mean"]

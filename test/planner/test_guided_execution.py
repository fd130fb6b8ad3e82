"""A planner whose steps are guided by what memory compiles: what comes before a step, and what its failure leads to."""

from collections.abc import Callable, Mapping
from typing import cast

import pytest
from tiny_home import played

from memory_node.catalogue.label_space import load_catalogue
from memory_node.context.brief_state import BriefState
from memory_node.context.compilations import Compilations, TaskRetrieval
from memory_node.context.config import CompilerConfig
from memory_node.context.guidance import Compiled, CompiledStep, Guidance, GuidancePort, StepObservation
from memory_node.domain.ports import MemoryPort
from memory_node.domain.skill import FailureReason, SkillCall, SkillResult
from memory_node.domain.step import StepRecord
from memory_node.lessons.config import ExperienceConfig, Part
from memory_node.lessons.experience import Experience
from memory_node.lessons.lesson import ExperienceLog
from memory_node.planner.guided_planner import GuidedExecution, GuidedPlanner
from memory_node.planner.planner import PlannedStep, PlanningContext, PlanOutcome, PlanProgress, PlanRun, ProgressKind

PICK, GO = SkillCall("PickupObject", ("Mug",)), SkillCall("GoToObject", ("Mug",))
Says = Callable[[StepObservation], SkillCall | None]


class Scripted:
    """A GuidancePort that says what a function makes of each observation."""

    def __init__(self, says: Says) -> None:
        self._says = says
        self.observed: list[StepObservation] = []

    def compile(self, episode_id: str, observation: StepObservation) -> CompiledStep:
        self.observed.append(observation)
        goal = self._says(observation)
        guidance = Guidance(goal, f"Next: {goal}.", "so it is") if goal is not None else None
        return CompiledStep(Compiled(guidance), BriefState())


def carried(port: Scripted, results: Mapping[str, list[FailureReason]]) -> tuple[list[str], SkillResult]:
    """Carry PickupObject(Mug) out; results: how each skill's calls end, success where nothing is left."""
    records: list[PlannedStep] = []
    steps = GuidedExecution(port, "e1", lambda _: None, lambda step, _: records.append(step), {})
    left = {skill: list(reasons) for skill, reasons in results.items()}
    done: list[str] = []

    def execute(call: SkillCall) -> SkillResult:
        reasons = left.get(call.skill, [])
        reason = reasons.pop(0) if reasons else FailureReason.NONE
        done.append(call.skill + ("" if reason is FailureReason.NONE else f":{reason}"))
        return SkillResult(call, reason is FailureReason.NONE, reason)

    result = played(steps.run(PlannedStep(PICK)), execute)
    assert [step.call.skill for step in records] == [one.partition(":")[0] for one in done]
    return done, result


def test_without_guidance_the_step_is_done_once() -> None:
    done, result = carried(Scripted(lambda _: None), {"PickupObject": [FailureReason.TOO_FAR]})
    assert done == ["PickupObject:too_far"]
    assert result.reason is FailureReason.TOO_FAR


def test_preparation_comes_first() -> None:
    port = Scripted(lambda seen: GO if seen.taken is None else None)
    assert carried(port, {})[0] == ["GoToObject", "PickupObject"]
    assert port.observed[1].taken.call == GO


def test_guided_step_says_why_it_is_done() -> None:
    port = Scripted(lambda seen: GO if seen.taken is None else None)
    records: list[PlannedStep] = []
    steps = GuidedExecution(port, "e1", lambda _: None, lambda step, _: records.append(step), {})
    played(steps.run(PlannedStep(PICK, reasoning="it is asked for")), lambda call: SkillResult(call, True))
    assert [one.reasoning for one in records] == ["so it is", "it is asked for"]


def test_failure_is_prepared_for_and_the_step_done_again() -> None:
    def says(seen: StepObservation) -> SkillCall | None:
        return GO if seen.taken is not None and seen.taken.reason is FailureReason.TOO_FAR else None

    done, result = carried(Scripted(says), {"PickupObject": [FailureReason.TOO_FAR]})
    assert done == ["PickupObject:too_far", "GoToObject", "PickupObject"]
    assert result.success


def test_chance_is_tried_again() -> None:
    def says(seen: StepObservation) -> SkillCall | None:
        return PICK if seen.taken is not None and seen.taken.reason is FailureReason.EXECUTION else None

    assert carried(Scripted(says), {"PickupObject": [FailureReason.EXECUTION] * 2})[0] == [
        "PickupObject:execution",
        "PickupObject:execution",
        "PickupObject",
    ]


@pytest.mark.parametrize("says", [lambda _: GO, lambda _: PICK])
def test_guidance_that_never_ends_is_left(says: Says) -> None:
    done, result = carried(Scripted(says), {"PickupObject": [FailureReason.TOO_FAR] * 99})
    assert len(done) <= 7
    assert not result.success


def test_cancelled_step_ends_it() -> None:
    done, result = carried(Scripted(lambda _: GO), {"GoToObject": [FailureReason.CANCELED]})
    assert done == ["GoToObject:canceled"]
    assert result.reason is FailureReason.CANCELED


class Fetching:
    """Picks a mug up where it stands."""

    def run(self, instruction: str, situation: PlanningContext) -> PlanRun:
        situation.report(PlanProgress(ProgressKind.PLAN, "", ("fetch Mug",)))
        result = yield PlannedStep(PICK)
        return PlanOutcome(("fetch Mug",), (result.success,))


class OfNoMemory(Experience):
    """An `ExperiencePort` without a memory around it."""

    def record(self, step: StepRecord, context_id: str = ""):  # type: ignore[no-untyped-def]
        return super().record(step)


def compiling(experience: Experience) -> GuidancePort:
    """Return the rules' guidance from what experience alone knows."""
    config = CompilerConfig()
    retrieval = TaskRetrieval(experience, lambda *_: ())
    return Compilations(experience, retrieval, lambda *_: None, lambda: None, config, load_catalogue())


class Storing:
    """Puts an egg away, and never thinks of the door."""

    def run(self, instruction: str, situation: PlanningContext) -> PlanRun:
        situation.report(PlanProgress(ProgressKind.PLAN, "", ("place Egg to Fridge",)))
        result = yield PlannedStep(SkillCall("PutObject", ("Egg", "Fridge")))
        return PlanOutcome(("place",), (result.success,))


@pytest.mark.parametrize(
    ("parts", "days"),
    [
        ((), [["-PutObject"], ["-PutObject"]]),
        (("working",), [["-PutObject", "OpenObject", "PutObject"]] * 2),
        (("episodic",), [["-PutObject"], ["OpenObject", "PutObject"]]),
    ],
)
def test_each_part_of_experience_prepares_for_a_closed_door_by_itself(
    parts: tuple[Part, ...], days: list[list[str]]
) -> None:
    experience = OfNoMemory(ExperienceConfig(parts=frozenset(parts)), ExperienceLog(), lambda: 0)
    planner = GuidedPlanner(Storing(), experience, lambda: 0, guidance=compiling(experience))
    seen = []
    for _ in days:
        run = planner.run("put the egg away", PlanningContext(cast("MemoryPort", None)))
        done: list[str] = []

        def execute(call: SkillCall, done: list[str] = done) -> SkillResult:
            is_open = "OpenObject" in done or call.skill != "PutObject"
            done.append(f"{'' if is_open else '-'}{call.skill}")
            return SkillResult(call, is_open, FailureReason.NONE if is_open else FailureReason.CLOSED)

        played(run, execute)
        assert experience.wait_settled(10.0)
        seen.append([one for one in done if one.lstrip("-") in ("PutObject", "OpenObject")])
    experience.close()
    assert seen == days


def test_episode_is_guided_and_recorded_and_its_state_is_told() -> None:
    experience = OfNoMemory(ExperienceConfig(), ExperienceLog(), lambda: 0)
    told: list[PlanProgress] = []
    planner = GuidedPlanner(Fetching(), experience, lambda: 0, guidance=compiling(experience))
    run = planner.run("fetch the mug", PlanningContext(cast("MemoryPort", None), told.append))
    done: list[SkillCall] = []

    def execute(call: SkillCall) -> SkillResult:
        done.append(call)
        return SkillResult(call, True)

    outcome = played(run, execute)
    experience.close()
    assert outcome.success
    assert done == [GO, PICK]
    states = [progress.state for progress in told if progress.kind is ProgressKind.STATE]
    assert states[0][:2] == ("Goal: fetch the mug", "Now: fetch Mug")
    assert "Robot: the hand is empty; the robot stands at Mug" in states[-1]
    said = [progress.text for progress in told if progress.kind is ProgressKind.MEMORY]
    assert said == ["Next: GoToObject(Mug), because the robot stands at nothing known."]

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest
from tiny_home import played

from memory_node.domain.clock import Clock
from memory_node.domain.ports import MemoryPort
from memory_node.domain.skill import FailureReason, SkillCall, SkillResult, StateChange
from memory_node.domain.step import NO_ACCOUNT, EpisodeAccount, EpisodeSummary, ModelCost, StepRecord
from memory_node.episodes.working_memory import ConsistencyWarning
from memory_node.lessons.config import ExperienceConfig
from memory_node.lessons.experience import Experience
from memory_node.planner.guided_planner import GuidedPlanner
from memory_node.planner.planner import (
    PlannedStep,
    PlanningContext,
    PlanningFailedError,
    PlanOutcome,
    PlanProgress,
    PlanRun,
    ProgressKind,
)

PUT = SkillCall("PutObject", ("Egg@1,1,1", "Fridge@2,2,1"))


class EmptyHand:
    """A memory of an empty hand."""

    def held_object(self) -> None:
        return None


def situation() -> PlanningContext:
    return PlanningContext(cast("MemoryPort", EmptyHand()))


class NoLog:
    def __init__(self) -> None:
        self.episodes: dict[str, EpisodeSummary] = {}

    def put_episode(self, episode: EpisodeSummary) -> None:
        self.episodes[episode.id] = episode

    def put_step(self, step: StepRecord) -> None:
        pass

    def put_documents(self, kind: str, documents: Sequence[tuple[str, dict[str, Any], tuple[str, ...]]]) -> None:
        pass

    def remove_documents(self, kind: str, ids: Sequence[str]) -> None:
        pass


@pytest.fixture
def clock() -> Clock:
    return lambda: 0


def test_cancelled_instruction_ends_without_a_verdict(clock: Clock) -> None:
    log = NoLog()
    experience = Experience(ExperienceConfig(), log, now_ns=lambda: 0)
    run = GuidedPlanner(ListedPlanner(PUT), experience, clock).run("put it away", situation())
    next(run)
    run.close()
    (episode,) = log.episodes.values()
    assert episode.success is None
    assert (episode.task_type, episode.ended_ns) == ("place", 0)
    experience.close()


class TakenDown:
    """An `ExperiencePort` that keeps what it is told."""

    max_attempts = 3

    def __init__(self) -> None:
        self.started: list[tuple[str, int]] = []
        self.steps: list[StepRecord] = []
        self.contexts: list[str] = []
        self.ended: list[tuple[bool | None, str]] = []
        self.costs: list[ModelCost] = []

    def start(self, instruction: str, task_type: str = "", episode_id: str = "", attempt: int = 1) -> str:
        if episode_id:
            self.started[int(episode_id[1:]) - 1] = (task_type, attempt)
            return episode_id
        self.started.append((task_type, attempt))
        return f"e{len(self.started)}"

    def record(self, step: StepRecord, context_id: str = "") -> None:
        self.steps.append(step)
        self.contexts.append(context_id)

    def end(
        self, episode_id: str, success: bool | None, message: str = "", account: EpisodeAccount = NO_ACCOUNT
    ) -> None:
        self.ended.append((success, message))
        self.costs.append(account.cost)

    def may_retry(self, attempt: int) -> bool:
        return attempt < self.max_attempts


class ListedPlanner:
    """Calls what it is given; achieves its goal when the last skill of all attempts is done."""

    def __init__(self, *calls: SkillCall) -> None:
        self._calls = calls

    def run(self, instruction: str, situation: PlanningContext) -> PlanRun:
        situation.report(PlanProgress(ProgressKind.PLAN, "", ("place Egg to Fridge",)))
        if not self._calls:
            raise PlanningFailedError("no word of it was understood")
        success = False
        for call in self._calls:
            success = (yield PlannedStep(call)).success
        failures = () if success else ("place: it would not go",)
        return PlanOutcome(("place",), (success,), failures, cost=ModelCost(tokens_in=50, replies=len(self._calls)))


def carry_out(planner: GuidedPlanner, *successes: bool, changes: tuple[StateChange, ...] = ()) -> PlanOutcome:
    """Let a robot whose skills end so one after the other carry out an instruction."""
    ends = iter(successes)

    def execute(call: SkillCall) -> SkillResult:
        done = next(ends)
        reason = FailureReason.NONE if done else FailureReason.EXECUTION
        return SkillResult(call, done, reason, object_id="thing-17", changes=changes)

    return cast("PlanOutcome", played(planner.run("put the egg away", situation()), execute))


def test_failed_attempt_is_tried_again_up_to_the_limit(clock: Clock) -> None:
    experience = TakenDown()
    outcome = carry_out(GuidedPlanner(ListedPlanner(PUT), experience, clock, attempts=5), False, False, False)
    assert not outcome.success
    assert experience.started == [("place", 1), ("place", 2), ("place", 3)]
    assert experience.ended == [(False, "place: it would not go")] * 3
    second = TakenDown()
    assert carry_out(GuidedPlanner(ListedPlanner(PUT), second, clock, attempts=2), False, True).success
    assert second.ended == [(False, "place: it would not go"), (True, "")]
    assert second.costs == [ModelCost(tokens_in=50, replies=1)] * 2


def test_one_attempt_is_the_default(clock: Clock) -> None:
    experience = TakenDown()
    carry_out(GuidedPlanner(ListedPlanner(PUT), experience, clock), False)
    assert experience.started == [("place", 1)]


def test_instruction_that_is_not_understood_is_a_failed_episode(clock: Clock) -> None:
    experience = TakenDown()
    with pytest.raises(PlanningFailedError):
        carry_out(GuidedPlanner(ListedPlanner(), experience, clock, attempts=2))
    assert experience.ended == [(False, "no word of it was understood")]


def test_robots_own_ids_become_classes(clock: Clock) -> None:
    experience = TakenDown()
    calls = (SkillCall("GoToObject", ("Egg@1,1,1",)), SkillCall("PickupObject", ("thing-17",)))
    picked = StateChange("thing-17", "Egg", 1, held=True)
    carry_out(GuidedPlanner(ListedPlanner(*calls), experience, clock), True, True, changes=(picked,))
    assert [str(step.action) for step in experience.steps] == ["GoToObject(Egg@1,1,1)", "PickupObject(Egg)"]
    assert [step.index for step in experience.steps] == [0, 1]


class ReadingPlanner:
    """Chooses its one step by a context."""

    def run(self, instruction: str, situation: PlanningContext) -> PlanRun:
        result = yield PlannedStep(PUT, context_id="context-1", reasoning="it is asked for")
        return PlanOutcome(("place",), (result.success,))


def test_step_is_recorded_with_the_context_that_it_was_chosen_by(clock: Clock) -> None:
    experience = TakenDown()
    carry_out(GuidedPlanner(ReadingPlanner(), experience, clock), True)
    assert experience.contexts == ["context-1"]
    assert [one.reasoning for one in experience.steps] == ["it is asked for"]


class Asking:
    """Asks memory first, then does one step; tells calls as progress before it."""

    def __init__(self, experience: TakenDown, question: str = "") -> None:
        self.running_when_asked: list[int] = []
        self._experience = experience
        self._question = question

    def run(self, instruction: str, situation: PlanningContext) -> PlanRun:
        self.running_when_asked.append(len(self._experience.started) - len(self._experience.ended))
        situation.report(PlanProgress(ProgressKind.PLAN, "", ("clean Egg to Fridge", "slice Egg")))
        situation.report(PlanProgress(ProgressKind.PLAN, "PutObject(Egg, Fridge)"))
        yield PlannedStep(PUT)
        return PlanOutcome(("clean", "slice"), (True, True), question=self._question)


def test_episode_runs_before_the_planner_asks_memory(clock: Clock) -> None:
    experience = TakenDown()
    planner = Asking(experience)
    carry_out(GuidedPlanner(planner, experience, clock), True)
    assert planner.running_when_asked == [1]


def test_task_type_comes_from_the_goals_and_not_from_calls(clock: Clock) -> None:
    experience = TakenDown()
    carry_out(GuidedPlanner(Asking(experience), experience, clock), True)
    assert experience.started == [("clean+slice", 1)]


def test_what_ends_with_a_question_is_neither_a_success_nor_a_failure(clock: Clock) -> None:
    experience = TakenDown()
    carry_out(GuidedPlanner(Asking(experience, question="which one?"), experience, clock), True)
    assert experience.ended == [(None, "")]


@pytest.mark.parametrize("instruction", ["", " ", "?"])
def test_empty_instruction_begins_no_episode(instruction: str, clock: Clock) -> None:
    experience = TakenDown()
    run = GuidedPlanner(ListedPlanner(), experience, clock).run(instruction, situation())
    with pytest.raises(PlanningFailedError):
        next(run)
    assert experience.started == []


class HoldsAnEggIn(EmptyHand):
    """A memory of an egg in a fridge."""

    def scene(self) -> Any:
        egg = SimpleNamespace(id="egg-1", inside=True, support_id="fridge-1")
        return SimpleNamespace(by_id={"egg-1": egg})


class OpensWhatTheRobotNames:
    """Goes to the egg, and opens what the robot says is closed around it."""

    def run(self, instruction: str, situation: PlanningContext) -> PlanRun:
        going = SkillCall("GoToObject", ("Egg@1,1,1",))
        closed = yield PlannedStep(going, memory_ids={"Egg@1,1,1": "egg-1"})
        yield PlannedStep(SkillCall("OpenObject", (closed.object_id,)))
        return PlanOutcome(("place",), (False,))


def test_what_the_robot_names_as_closed_is_recorded_by_memorys_id(clock: Clock) -> None:
    recorded: list[SkillCall] = []

    class Listening(Experience):
        def record(self, step: StepRecord, context_id: str = "") -> tuple[ConsistencyWarning, ...]:
            recorded.append(step.action)
            return super().record(step)

    experience = Listening(ExperienceConfig(), NoLog(), now_ns=lambda: 0)
    context = PlanningContext(cast("MemoryPort", HoldsAnEggIn()))
    run = GuidedPlanner(OpensWhatTheRobotNames(), experience, clock).run("fetch the egg", context)
    step = next(run)
    step = run.send(SkillResult(step.call, False, FailureReason.CLOSED, object_id="robots-fridge"))
    with pytest.raises(StopIteration):
        run.send(SkillResult(step.call, False, FailureReason.EXECUTION))
    experience.close()
    assert recorded == [SkillCall("GoToObject", ("egg-1",)), SkillCall("OpenObject", ("fridge-1",))]

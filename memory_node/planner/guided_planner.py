"""Records what any planner does as episodes, and lets memory guide its steps."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from memory_node.context.guidance import CompiledStep, GuidancePort, StepObservation, TakenStep
from memory_node.domain.clock import Clock
from memory_node.domain.ports import ExperiencePort
from memory_node.domain.skill import FailureReason, SkillCall, SkillResult
from memory_node.domain.step import NO_COST, EpisodeAccount, StepRecord
from memory_node.planner.planner import (
    PlannedStep,
    Planner,
    PlanningContext,
    PlanningFailedError,
    PlanProgress,
    PlanRun,
    ProgressKind,
    Report,
    relayed,
)

# Guidance before or after one step of the planner, at most; a compiler that says more goes round in circles.
_MOST_GUIDED = 6


@dataclass(eq=False)
class GuidedExecution:
    """The steps of one episode.

    record: is told every step that was done and its result. classes: the classes of the robot's ids so far.
    """

    port: GuidancePort
    episode_id: str
    report: Report
    record: Callable[[PlannedStep, SkillResult], None]
    classes: Mapping[str, str]

    def __post_init__(self) -> None:
        self.goals: tuple[str, ...] = ()
        self._taken: TakenStep | None = None
        self._told_nothing = False

    def compile(
        self, proposed: SkillCall | None, goal_index: int, names: Mapping[str, str] = MappingProxyType({})
    ) -> CompiledStep | None:
        """Return what is compiled now, for a proposed call or, without one, for the goal; see planner.Guide."""
        observation = StepObservation(
            goals=self.goals,
            goal_index=min(goal_index, len(self.goals)),
            taken=self._taken,
            proposed=proposed,
            classes=dict(self.classes),
            names=dict(names),
        )
        self._taken = None
        step = self.port.compile(self.episode_id, observation)
        if step is not None:
            self._tell(step)
        elif not self._told_nothing:
            self._told_nothing = True
            self.report(
                PlanProgress(ProgressKind.NOTE, "memory does not compile; the planner goes on without guidance")
            )
        return step

    def run(self, step: PlannedStep) -> Generator[PlannedStep, SkillResult, SkillResult]:
        """Yield the guided calls before a step, the step, and the guided calls after its failure. Return the step's
        last result, with how often it was done: a failure that guidance repaired does not count.
        """
        if step.guided:
            return (yield from self._done(step))
        result: SkillResult | None = None
        is_due = True  # whether something was done since the step failed
        prepared: set[SkillCall] = set()
        for _ in range(_MOST_GUIDED):
            compiled = self.compile(step.call, step.goal_index)
            guidance = compiled.guidance if compiled is not None else None
            call = guidance.goal if guidance is not None else step.call
            if call != step.call and call not in prepared:
                because = guidance.reason if guidance is not None else ""
                before = yield from self._done(PlannedStep(call, step.goal_index, reasoning=because))
                if before.reason is FailureReason.CANCELED:
                    return before
                if before.success:
                    prepared.add(call)
                is_due = True
                continue
            if not is_due and (guidance is None or call != step.call):
                # There is no further guidance.
                break
            times = result.times + 1 if result is not None else 1
            result = replace((yield from self._done(step)), times=times)
            is_due = False
            if result.success or result.reason is FailureReason.CANCELED:
                break
        return result if result is not None else (yield from self._done(step))

    def _done(self, step: PlannedStep) -> Generator[PlannedStep, SkillResult, SkillResult]:
        result = yield step
        self.note(step, result)
        return result

    def note(self, step: PlannedStep, result: SkillResult) -> None:
        """Take a step that has ended into account."""
        self.record(step, result)
        self._taken = TakenStep(step.call, result.success, result.reason, result.object_id)

    def _tell(self, step: CompiledStep) -> None:
        guidance = step.guidance
        if guidance is not None:
            self.report(PlanProgress(ProgressKind.MEMORY, guidance.text, call=guidance.goal))
        self.report(PlanProgress(ProgressKind.STATE, step.state.text, state=step.state.lines()))


@dataclass(eq=False)
class GuidedPlanner:
    """A planner whose steps memory may precede by others; each attempt at an instruction is a recorded episode.

    The inner planner is told the results of its own steps only.

    Args:
        inner: the planner that is guided.
        experience: what learns from it.
        clock: stamps of steps.
        attempts: so often an instruction is tried while it fails, as long as experience allows another attempt.
        first_attempt: the number of the first one, where earlier ones were made elsewhere.
        guidance: compiles memory at each step. None: nobody does, and each step is done as it is.
    """

    inner: Planner
    experience: ExperiencePort
    clock: Clock
    attempts: int = 1
    first_attempt: int = 1
    guidance: GuidancePort | None = None

    def run(self, instruction: str, situation: PlanningContext) -> PlanRun:
        """Yield the inner planner's steps and what experience puts before them; see planner.Planner."""
        if not any(letter.isalnum() for letter in instruction):
            # Nothing is attempted, so there is no episode.
            return (yield from self.inner.run(instruction, situation))
        last = self.first_attempt + self.attempts - 1
        for attempt in range(self.first_attempt, last + 1):
            outcome = yield from self._attempt(instruction, situation, attempt)
            # Who waits for an answer has not failed.
            ended = outcome.success or outcome.is_final or bool(outcome.question)
            if ended or attempt == last or not self.experience.may_retry(attempt):
                break
            situation.note(f"attempt {attempt} failed; trying again with what it taught")
        return outcome

    def _attempt(self, instruction: str, situation: PlanningContext, attempt: int) -> PlanRun:
        # The episode starts before the planner asks memory anything, so that answers belong to it.
        episode = _Episode(self.experience, self.experience.start(instruction, attempt=attempt), self.clock, situation)
        compiled = None
        if self.guidance is not None and episode.id:
            compiled = GuidedExecution(self.guidance, episode.id, situation.report, episode.record, episode.classes)
        notes: dict[str, None] = {}

        def report(progress: PlanProgress) -> None:
            if progress.kind is ProgressKind.PLAN and progress.goals:
                # The kinds of the goals say what kind of task it is, whatever the objects.
                task_type = "+".join(goal.split()[0] for goal in progress.goals if goal.split())
                self.experience.start(instruction, task_type, episode.id, attempt)
                if compiled is not None:
                    compiled.goals = progress.goals
            elif progress.kind is ProgressKind.NOTE:
                notes[progress.text] = None
            situation.report(progress)

        guide = compiled.compile if compiled is not None else None
        run = self.inner.run(instruction, replace(situation, report=report, guide=guide))
        success: bool | None = None
        message, cost = "", NO_COST
        try:
            outcome = yield from relayed(run, compiled.run if compiled is not None else episode.done)
            success = None if outcome.question else outcome.success  # who waits for an answer has not failed
            message, cost = "; ".join(outcome.failures), outcome.cost
            return outcome
        except PlanningFailedError as error:
            success, message = False, str(error)
            raise
        finally:
            # What needs no step, or is not understood, is an episode as well.
            self.experience.end(episode.id, success, message, EpisodeAccount(cost, tuple(notes)))


class _Episode:
    """What is told to experience: things by memory's ids, else by classes, since the robot's ids mean nothing in
    the next home. classes: of the robot's ids so far."""

    def __init__(self, experience: ExperiencePort, episode_id: str, clock: Clock, situation: PlanningContext) -> None:
        self._situation = situation
        self.id = episode_id
        self._experience = experience
        self._clock = clock
        self.classes: dict[str, str] = {}
        self._index = 0

    def done(self, step: PlannedStep) -> Generator[PlannedStep, SkillResult, SkillResult]:
        """Yield a step, and tell experience how it ended."""
        result = yield step
        self.record(step, result)
        return result

    def record(self, planned: PlannedStep, result: SkillResult) -> None:
        """Tell experience how a step ended. What it changed, and what the hand holds now, memory knows already."""
        call = planned.call
        self._recognize(planned, result)
        for change in result.changes:
            self.classes[change.object_id] = change.object_class
        if result.success and result.object_id and call.skill in ("Explore", "GoToObject"):
            # From here on the robot's own id may name it.
            self.classes.setdefault(result.object_id, self._named(call).arguments[0].partition("@")[0])
        action = self._named(call, self._situation.memory_ids | dict(planned.memory_ids))
        step = StepRecord.of(result, self.id, self._index, self._clock(), action)
        self._index += 1
        self._experience.record(replace(step, reasoning=planned.reasoning), planned.context_id)

    def _recognize(self, planned: PlannedStep, result: SkillResult) -> None:
        """Note that what the robot names as closed around a thing is what memory holds this thing to be in."""
        if result.reason is not FailureReason.CLOSED or not result.object_id or not planned.call.arguments:
            return
        thing_id = planned.memory_ids.get(planned.call.arguments[0], "")
        found = self._situation.scene().by_id.get(thing_id) if thing_id else None
        if found is not None and found.inside and found.support_id:
            self._situation.memory_ids.setdefault(result.object_id, found.support_id)

    def _named(self, call: SkillCall, memory_ids: Mapping[str, str] = MappingProxyType({})) -> SkillCall:
        """Return a call with what memory knows its things by: its own ids, else their classes."""
        names = (memory_ids.get(text) or self.classes.get(text, text) for text in call.arguments)
        return SkillCall(call.skill, tuple(names))

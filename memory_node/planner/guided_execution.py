"""Carries out a planner's steps with compiled guidance before and after each of them."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from memory_node.context.guidance import CompiledStep, GuidancePort, StepObservation, TakenStep
from memory_node.domain.skill import FailureReason, SkillCall, SkillResult
from memory_node.planner.planner import PlannedStep, PlanProgress, ProgressKind, Report

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
                before = yield from self._done(PlannedStep(call, step.goal_index))
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

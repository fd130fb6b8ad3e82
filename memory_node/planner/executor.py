"""Executes instructions: one loop for the ROS planner node and for the benchmark."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields

from memory_node.domain.ports import MemoryPort, SkillPort
from memory_node.domain.skill import FailureReason, SkillCall, SkillResult, StateChange
from memory_node.planner.goal import Goal
from memory_node.planner.planner import (
    InstructionSetting,
    Lookup,
    PlannedStep,
    Planner,
    PlanningContext,
    PlanningFailedError,
    PlanOutcome,
    PlanProgress,
    ProgressKind,
    ignore,
)
from memory_node.world.skills import with_declared_states


@dataclass(frozen=True)
class ExecutedStep:
    """A step that was taken and how it ended."""

    step: PlannedStep
    result: SkillResult


@dataclass(frozen=True)
class InstructionResult:
    """What came of one instruction: the planner's outcome, every step and every question to memory.

    failure: why it ended early, "" when it ran to its end. planning_s: seconds spent outside skills. notes: what the
    planner had to say on the way: warnings, facts that bind, substitutes taken.
    """

    instruction: str
    outcome: PlanOutcome
    steps: tuple[ExecutedStep, ...]
    lookups: tuple[Lookup, ...]
    failure: str = ""
    canceled: bool = False
    planning_s: float = 0.0
    notes: tuple[str, ...] = ()

    @property
    def success(self) -> bool:
        """Whether every goal was achieved, as the planner sees it."""
        return not self.failure and self.outcome.success

    @property
    def skills(self) -> int:
        """How many skills were called."""
        return len(self.steps)

    @property
    def explorations(self) -> int:
        """How many times a thing had to be searched for."""
        return sum(step.step.call.skill == "Explore" for step in self.steps)

    @property
    def explored_areas(self) -> int:
        """How many areas were visited to search."""
        return sum(step.result.explored_areas for step in self.steps)

    @property
    def distance_m(self) -> float:
        """Metres driven."""
        return sum((step.result.distance_m for step in self.steps), 0.0)

    @property
    def skill_s(self) -> float:
        """Seconds that the skills took."""
        return sum((step.result.duration_s for step in self.steps), 0.0)

    @property
    def lookups_answered(self) -> int:
        """How many questions memory could answer."""
        return sum(lookup.answer is not None for lookup in self.lookups)

    @property
    def lookups_hit(self) -> int:
        """How many questions the short-term memory answered."""
        return sum(lookup.source == "short_term" for lookup in self.lookups)


@dataclass
class _Record:
    """What has happened so far in one instruction."""

    steps: list[ExecutedStep] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    lookups: list[Lookup] = field(default_factory=list)


def _never() -> bool:
    return False


@dataclass(frozen=True, eq=False)
class InstructionExecutor(InstructionSetting):
    """Carries instructions out with one memory, one robot and one planner, in one setting.

    on_step: called after every skill, when memory has taken over its changes.
    """

    memory: MemoryPort
    robot: SkillPort
    planner: Planner
    on_step: Callable[[ExecutedStep], None] = ignore
    on_lookup: Callable[[Lookup], None] = ignore

    def execute(
        self,
        instruction: str,
        on_progress: Callable[[PlanProgress], None] = ignore,
        cancelled: Callable[[], bool] = _never,
        goals: Sequence[Goal] = (),
    ) -> InstructionResult:
        """Carry out one instruction; `cancelled` is asked before every skill. Never raises for what fails.

        goals: what it asks for, where that is known; its words are not read then.
        """
        record = _Record()

        def note_lookup(lookup: Lookup) -> None:
            record.lookups.append(lookup)
            self.on_lookup(lookup)

        def note(progress: PlanProgress) -> None:
            if progress.kind is ProgressKind.NOTE and progress.text not in record.notes:
                record.notes.append(progress.text)
            on_progress(progress)

        setting = {one.name: getattr(self, one.name) for one in fields(InstructionSetting)}
        situation = PlanningContext(self.memory, note, note_lookup, goals=tuple(goals), **setting)
        started = time.monotonic()
        spent_in_skills = 0.0
        failure, canceled = "", False
        outcome = PlanOutcome((), ())
        run = self.planner.run(instruction, situation)
        try:
            step = next(run)
            while True:
                if cancelled():
                    run.close()
                    failure, canceled = "canceled", True
                    break
                on_progress(PlanProgress(ProgressKind.SKILL, str(step.call), call=step.call))
                skill_started = time.monotonic()
                result = self._forbidden(step.call, situation) or self.robot.execute(step.call)
                spent_in_skills += time.monotonic() - skill_started
                self._take_over(step, result, record, situation)
                if result.reason is FailureReason.CANCELED:
                    # After a stop the robot must not continue with something else.
                    run.close()
                    failure, canceled = result.message or "canceled", True
                    break
                step = run.send(result)
        except StopIteration as stop:
            outcome = stop.value
            if outcome.success:
                self.conversation.completed = instruction
        except PlanningFailedError as error:
            failure, outcome = str(error), error.outcome or outcome
            on_progress(PlanProgress(ProgressKind.NOTE, failure))
        return InstructionResult(
            instruction,
            outcome,
            tuple(record.steps),
            tuple(record.lookups),
            failure,
            canceled,
            time.monotonic() - started - spent_in_skills,
            tuple(record.notes),
        )

    def _forbidden(self, call: SkillCall, situation: PlanningContext) -> SkillResult | None:
        """Return the result of a call that what was told speaks against; None where it may be carried out."""
        objection = self.limits.of_call(call) if self.limits is not None else None
        if objection is None:
            return None
        situation.report(PlanProgress(ProgressKind.NOTE, f"{objection.text}: {call} is not done", call=call))
        return SkillResult(call, False, FailureReason.FORBIDDEN, objection.text, objection.blocked)

    def _forget_held(self) -> None:
        """Tell memory that the robot found its hand empty: what it held is somewhere else."""
        held = self.memory.held_object()
        if held is not None:
            self.memory.remember((StateChange(held.object_id, held.object_class, 0, held=False),))

    def _take_over(self, step: PlannedStep, result: SkillResult, record: _Record, situation: PlanningContext) -> None:
        if result.changes:
            changes = with_declared_states(result)
            ids = self.memory.remember(changes)
            told = {change.object_id: memory_id for change, memory_id in zip(changes, ids) if memory_id}
            for robot_id in told:  # of two ids of the robot's for one thing the one told last comes last
                situation.memory_ids.pop(robot_id, None)
            situation.memory_ids.update(told)
        elif result.reason is FailureReason.HAND_EMPTY:
            self._forget_held()
        executed = ExecutedStep(step, result)
        record.steps.append(executed)
        self.on_step(executed)
        ended = "done" if result.success else f"failed: {result.reason} {result.message}".rstrip()
        situation.report(PlanProgress(ProgressKind.RESULT, f"{step.call} {ended}", call=step.call))

"""Lets experience correct any planner: what failed before is prepared for before it is done again."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace

from memory_node.domain.advice import bind
from memory_node.domain.clock import Clock
from memory_node.domain.ports import ExperiencePort
from memory_node.domain.skill import SkillCall, SkillResult
from memory_node.domain.step import StepRecord
from memory_node.planner.planner import (
    PlannedStep,
    Planner,
    PlanningFailedError,
    PlanProgress,
    PlanRun,
    ProgressKind,
    Situation,
)

# Preparing for a preparation goes so deep: fetch a knife, and before that go to it.
_MAX_DEPTH = 2


class GuidedPlanner:
    """A planner whose steps experience may precede by others; each instruction is one recorded episode.

    The inner planner is told the results of its own steps only.
    """

    def __init__(self, inner: Planner, experience: ExperiencePort, clock: Clock) -> None:
        self._inner = inner
        self._experience = experience
        self._clock = clock

    def carry_out(self, instruction: str, situation: Situation) -> PlanRun:
        """Yield the inner planner's steps and what experience puts before them; see planner.Planner."""
        task_type: list[str] = []

        def report(progress: PlanProgress) -> None:
            if progress.kind is ProgressKind.PLAN:
                # The kinds of the goals say what kind of task it is, whatever the objects.
                task_type[:] = ["+".join(goal.split()[0] for goal in progress.goals if goal.split())]
            situation.report(progress)

        run = self._inner.carry_out(instruction, replace(situation, report=report))
        episode: _Episode | None = None
        success: bool | None = None
        try:
            step = next(run)
            episode_id = self._experience.start(instruction, "".join(task_type))
            episode = _Episode(self._experience, episode_id, self._clock, situation.held_class)
            while True:
                yield from episode.prepare(step, situation)
                result = yield step
                episode.record(step.call, result)
                step = run.send(result)
        except StopIteration as stop:
            success = stop.value.success
            return stop.value  # type: ignore[no-any-return]
        except PlanningFailedError:
            success = False
            raise
        finally:
            run.close()
            if episode is not None:
                self._experience.end(episode.id, success)


class _Episode:
    """What is told to experience, in classes: ids mean nothing in the next home."""

    def __init__(self, experience: ExperiencePort, episode_id: str, clock: Clock, held: str) -> None:
        self.id = episode_id
        self._experience = experience
        self._clock = clock
        self._held = held
        self._classes: dict[str, str] = {}
        self._index = 0

    def prepare(
        self, step: PlannedStep, situation: Situation, depth: int = 0
    ) -> Generator[PlannedStep, SkillResult, None]:
        """Yield what experience advises to do before a step, each thing once."""
        tried: set[SkillCall] = {step.call}
        while True:
            advised = self._advised(step.call, tried)
            if advised is None:
                return
            call, reason = advised
            tried.add(call)
            situation.report(PlanProgress(ProgressKind.MEMORY, f"{call} first: {reason}", call=call))
            before = PlannedStep(call, step.goal_index)
            if depth < _MAX_DEPTH:
                yield from self.prepare(before, situation, depth + 1)
            result = yield before
            self.record(call, result)

    def record(self, call: SkillCall, result: SkillResult) -> None:
        """Tell experience how a step ended."""
        for change in result.changes:
            self._classes[change.object_id] = change.object_class
            if change.held is not None:
                self._held = change.object_class if change.held else ""
        if call.skill == "Explore" and result.object_id:
            self._classes[result.object_id] = call.arguments[0]
        step = StepRecord(
            episode_id=self.id,
            index=self._index,
            action=self._named(call),
            success=result.success,
            reason=result.reason,
            stamp_ns=self._clock(),
            message=result.message,
            held_object=self._held,
            duration_s=result.duration_s,
            distance_m=result.distance_m,
        )
        self._index += 1
        self._experience.record(step)

    def _advised(self, call: SkillCall, tried: set[SkillCall]) -> tuple[SkillCall, str] | None:
        named = self._named(call)
        objects = tuple(text.partition("@")[0] for text in named.arguments)
        for advice in self._experience.advise(self.id, named, objects):
            for template in advice.before:
                bound = bind(template, call)
                if bound is not None and bound not in tried and not self._is_held(bound):
                    return bound, advice.text
        return None

    def _is_held(self, call: SkillCall) -> bool:
        # An episode may begin with something in the hand, which its steps do not tell.
        return call.skill == "PickupObject" and self._named(call).arguments[0].partition("@")[0] == self._held

    def _named(self, call: SkillCall) -> SkillCall:
        return SkillCall(call.skill, tuple(self._classes.get(text, text) for text in call.arguments))

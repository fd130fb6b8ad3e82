"""The planner that needs no language model: instruction -> goals -> searched skills, with memory at each step."""

from __future__ import annotations

from collections.abc import Generator

from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.skill import SkillResult
from memory_node.planner.achieving import GoalRun
from memory_node.planner.goal import Goal
from memory_node.planner.goal_attempt import Setback
from memory_node.planner.language.single_goal_reader import HomeClasses
from memory_node.planner.language.understanding import NotUnderstoodError, Understander
from memory_node.planner.memory_lookup import MemoryLookup
from memory_node.planner.planner import (
    PlannedStep,
    PlanningFailedError,
    PlanOutcome,
    PlanProgress,
    PlanRun,
    ProgressKind,
    Situation,
)


class OfflinePlanner:
    """Understands instructions with the trained model and carries them out with searched plans.

    max_failures: how many skills may fail within one goal before it is given up.
    """

    def __init__(self, understander: Understander, kinds: ObjectCatalogue, max_failures: int = 10) -> None:
        if max_failures < 1:
            raise InvalidValueError(f"max_failures: expected at least 1, got {max_failures}")
        self._understander = understander
        self._kinds = kinds
        self._max_failures = max_failures

    def goals(self, instruction: str, situation: Situation) -> tuple[Goal, ...]:
        """Return what an instruction asks for, () when it is not understood."""
        try:
            recall = MemoryLookup(situation).recall_classes
            return self._understander.understand(instruction, home_classes(situation, self._kinds), recall).goals
        except NotUnderstoodError:
            return ()

    def carry_out(self, instruction: str, situation: Situation) -> PlanRun:
        """Yield the steps of an instruction; see planner.Planner."""
        lookup = MemoryLookup(situation)
        try:
            understanding = self._understander.understand(
                instruction, home_classes(situation, self._kinds), lookup.recall_classes
            )
        except NotUnderstoodError as error:
            raise PlanningFailedError(str(error)) from error
        goals = tuple(str(goal) for goal in understanding.goals)
        situation.report(
            PlanProgress(ProgressKind.PLAN, f"{len(goals)} goal(s), read by {understanding.source}", goals)
        )
        run = GoalRun(self._kinds, lookup, situation, self._max_failures)
        achieved: list[bool] = []
        failures: list[str] = []
        for index, goal in enumerate(understanding.goals):
            try:
                yield from _numbered(run.achieve(goal), index, lookup)
                achieved.append(True)
            except (Setback, PlanningFailedError) as error:
                failures.append(f"{goal}: {error}")
                situation.report(PlanProgress(ProgressKind.NOTE, f"gave up on {goal}: {error}"))
                achieved.append(False)
        return PlanOutcome(goals, tuple(achieved), tuple(failures))


def home_classes(situation: Situation, kinds: ObjectCatalogue) -> HomeClasses:
    """Return the classes that the scene graph holds."""
    names = {found.class_name for found in situation.memory.scene().objects if not found.removed}
    whole = {kinds.whole(name) for name in names}
    movable = frozenset(name for name in whole if kinds[name].pickupable)
    return HomeClasses(movable, frozenset(whole - movable))


def _numbered(
    steps: Generator[PlannedStep, SkillResult, None], index: int, lookup: MemoryLookup
) -> Generator[PlannedStep, SkillResult, None]:
    """Pass a goal's steps on with its number; after each of them the scene may have changed."""
    try:
        step = next(steps)
        while True:
            result = yield PlannedStep(step.call, index)
            lookup.note_step()
            step = steps.send(result)
    except StopIteration:
        return

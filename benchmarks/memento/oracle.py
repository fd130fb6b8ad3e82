"""A planner that knows the goals of its task: it lives the first day as MEMENTO's own log did."""

from __future__ import annotations

from graphlib import TopologicalSorter

from benchmarks.memento.floor_plan import Furniture
from benchmarks.memento.goals import holds
from benchmarks.memento.robot import calls_to_move
from benchmarks.memento.tasks import Goal, Task
from benchmarks.memento.world import SymbolicWorld
from memory_node.planner.planner import PlannedStep, PlanningContext, PlanOutcome, PlanProgress, PlanRun, ProgressKind


class OraclePlanner:
    """A `Planner` for one task in one world."""

    def __init__(self, task: Task, world: SymbolicWorld) -> None:
        self._task, self._world = task, world

    def run(self, instruction: str, situation: PlanningContext) -> PlanRun:
        """Yield the calls that meet the goals in their order."""
        order = TopologicalSorter({index: set[int]() for index in range(len(self._task.goals))})
        for first, second in self._task.before:
            order.add(second, first)
        goals = [self._task.goals[index] for index in order.static_order()]
        names = tuple(f"place {goal.any_of[0]}" for goal in goals)
        situation.report(PlanProgress(ProgressKind.PLAN, "; ".join(names), goals=names))
        for index, goal in enumerate(goals):
            if holds(goal, self._world):
                continue
            for name in goal.any_of[: goal.number]:
                for call in calls_to_move(self._world.things[name], self._destination(goal)):
                    yield PlannedStep(call, index)
        return PlanOutcome(names, tuple(holds(goal, self._world) for goal in goals), planner="oracle")

    def _destination(self, goal: Goal) -> Furniture:
        furniture = self._world.plan.furniture
        if goal.relation in ("on", "in"):
            return furniture[goal.places[0]]
        if goal.relation == "in_room":
            return next(one for one in furniture.values() if one.room == goal.places[0] and not one.is_floor)
        if goal.relation == "on_floor":
            return next(one for one in furniture.values() if one.is_floor)
        other = goal.others[0]
        return furniture[self._world.things[other].at] if other in self._world.things else furniture[other]

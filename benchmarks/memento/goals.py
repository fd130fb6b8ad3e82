"""Judges a task as MEMENTO does: each goal met in its order, some of them still at the end; an oracle meets them."""

from __future__ import annotations

from graphlib import TopologicalSorter

from benchmarks.memento.floor_plan import Furniture
from benchmarks.memento.robot import calls_to_move
from benchmarks.memento.tasks import Goal, Task
from benchmarks.memento.world import Standing, SymbolicWorld
from memory_node.planner.planner import PlannedStep, PlanningContext, PlanOutcome, PlanProgress, PlanRun, ProgressKind


class GoalHistory:
    """Which goals of a task have been met so far; `watch` it after every step."""

    def __init__(self, task: Task, world: SymbolicWorld) -> None:
        self._task, self._world = task, world
        self._first_met: dict[int, int] = {}
        self._steps = 0
        self.watch()

    def watch(self) -> None:
        """Note which goals hold now. A goal counts once those that must come before it were met earlier."""
        self._steps += 1
        for index, goal in enumerate(self._task.goals):
            earlier = [first for first, second in self._task.before if second == index]
            in_order = all(self._first_met.get(first, self._steps) < self._steps for first in earlier)
            if index not in self._first_met and in_order and holds(goal, self._world):
                self._first_met[index] = self._steps

    def met(self) -> list[bool]:
        """Return for each goal whether it is met, as the task stands now."""
        at_the_end = set(self._task.at_the_end)
        return [
            index in self._first_met and (index not in at_the_end or holds(goal, self._world))
            for index, goal in enumerate(self._task.goals)
        ]


def holds(goal: Goal, world: SymbolicWorld) -> bool:
    """Return whether a goal holds now."""
    things = [world.things[one] for one in goal.any_of if one in world.things]
    return sum(thing.at != "" and _stands(goal, thing, world) for thing in things) >= goal.number


def _stands(goal: Goal, thing: Standing, world: SymbolicWorld) -> bool:
    if goal.relation in ("on", "in"):
        return thing.at in goal.places
    if goal.relation == "in_room":
        return world.room_of(thing) in goal.places
    if goal.relation == "on_floor":
        return world.plan.furniture[thing.at].is_floor
    furniture = world.plan.furniture
    for other in goal.others:
        if other in furniture and furniture[other].room == world.room_of(thing):
            return True
        if other in world.things and other != thing.id and world.things[other].at == thing.at:
            return True
    return False


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

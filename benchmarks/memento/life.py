"""The first day of a home, each later task with the memory of that day, and what judges both as MEMENTO does."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from pathlib import Path

from benchmarks.memento.robot import SKILLS, FloorPlan, Furniture, Standing, SymbolicRobot, SymbolicWorld, calls_to_move
from benchmarks.memento.tasks import Goal, Home, Task
from memory_node.catalogue.label_space import load_catalogue
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.ports import TextEmbedder
from memory_node.domain.skill import SkillCall, SkillResult, StateChange
from memory_node.knowledge.text import stems
from memory_node.memory import RobotMemory
from memory_node.memory_config import MemoryConfig
from memory_node.opening import open_memory
from memory_node.planner.executor import InstructionExecutor, InstructionResult
from memory_node.planner.guided_planner import GuidedPlanner
from memory_node.planner.planner import (
    PlannedStep,
    Planner,
    PlanningContext,
    PlanOutcome,
    PlanProgress,
    PlanRun,
    ProgressKind,
)
from memory_node.planner.reading.plain_reader import Known
from memory_node.planner.told_limits import ToldLimits


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


MEMORY_TOKENS = 1500
# A line counts as given when it has this share of the words that carry meaning of what was learnt.
_GIVEN_SHARE = 0.6
_BEGIN_NS = 1_700_000_000 * 10**9
_BETWEEN_TASKS_NS = 600 * 10**9
_DAY_NS = 86_400 * 10**9
_LESSON_S = 60.0
# Of every home: a store refuses another site's memory, and a task may be played with another home's.
_SITE = "home"

OpenPlanner = Callable[[ObjectCatalogue], Planner]


@dataclass(frozen=True)
class Trial:
    """One later task: how it ended and what memory gave for it.

    met: goal by goal. given: for each related first task, whether it or what was learnt from it was given. wrong: a
    thing of no goal was moved.
    """

    task: Task
    result: InstructionResult
    met: tuple[bool, ...]
    given: tuple[bool, ...]
    wrong: bool
    memory_tokens: int

    @property
    def success(self) -> bool:
        """Whether every goal was met."""
        return all(self.met)


class MementoLife:
    """A robot's memory in a file, in one or several homes.

    folder: an empty one for the databases. label_space: of the homes. open_planner: makes the planner of later tasks
    (and, with `acquires`, of the first day). learns: whether later tasks are played with what the first day left.
    """

    def __init__(
        self, folder: Path, label_space: str, embedder: TextEmbedder, open_planner: OpenPlanner, acquires: bool = False
    ) -> None:
        self._folder, self._label_space, self._embedder = folder, label_space, embedder
        self._kinds = load_catalogue(label_space)
        self._planner = open_planner(self._kinds)
        self._acquires = acquires
        self._now_ns = _BEGIN_NS
        self._ends_ns: dict[str, int] = {}  # of the last first day in a database

    def first_day(self, home: Home, tasks: Sequence[Task], database: str) -> None:
        """Carry out first tasks in their order and remember them in a database of the folder."""
        begin_ns = self._now_ns = self._ends_ns.get(database, _BEGIN_NS)
        memory = self._open(database, home)
        try:
            for task in tasks:
                world = SymbolicWorld(FloorPlan(home), task)
                planner = self._planner if self._acquires else OraclePlanner(task, world)
                self._carry_out(memory, task, world, planner)
        finally:
            memory.close()
        self._ends_ns[database] = max(self._now_ns, begin_ns + _DAY_NS)

    def later(self, home: Home, task: Task, database: str) -> Trial:
        """Carry out a later task after a restart, on a copy of a database: nothing of it stays, and each begins at the
        same moment."""
        self._now_ns = self._ends_ns.get(database, _BEGIN_NS + _DAY_NS)
        copy = self._folder / "later"
        shutil.rmtree(copy, ignore_errors=True)
        if (self._folder / database).exists():
            shutil.copytree(self._folder / database, copy)
        memory = self._open("later", home)
        try:
            world = SymbolicWorld(FloorPlan(home), task)
            history = GoalHistory(task, world)
            context = memory.context(task.instruction, MEMORY_TOKENS)
            result = self._carry_out(memory, task, world, self._planner, history)
        finally:
            memory.close()
        goals = {name for goal in task.goals for name in (*goal.any_of, *goal.others)}
        return Trial(
            task,
            result,
            tuple(history.met()),
            given(task, home, context.text.splitlines()),
            bool(world.moved - goals),
            context.tokens,
        )

    def _open(self, database: str, home: Home) -> RobotMemory:
        folder = self._folder / database
        folder.mkdir(exist_ok=True)
        config = MemoryConfig(database=str(folder / "memory.db"), site=_SITE, label_space=self._label_space)
        memory = open_memory(config, lambda: self._now_ns, self._embedder, embed_in_background=False)
        memory.knowledge.embed_statements()  # a robot does so in the seconds after its start
        _show_home(memory, home, self._now_ns)
        return memory

    def _carry_out(
        self,
        memory: RobotMemory,
        task: Task,
        world: SymbolicWorld,
        planner: Planner,
        history: GoalHistory | None = None,
    ) -> InstructionResult:
        self._now_ns += _BETWEEN_TASKS_NS
        places = {area.id: area.position for area in memory.scene().areas}
        robot = SymbolicRobot(world, lambda: self._now_ns, lambda area: places[area])
        watched = _WatchedRobot(robot, memory, history, self._pass_time)
        watched.look()
        guided = GuidedPlanner(planner, memory.episodes, lambda: self._now_ns, guidance=memory.guidance)
        recalled = memory.recall_past()
        limits = ToldLimits(recalled.facts, memory.scene, self._kinds, lambda: self._now_ns, recalled.zone)
        known = Known(recalled, lambda: self._now_ns, memory.tell_in_words, ask=memory.ask)
        # It looks when memory has taken over what a skill did: what the hand holds is not gone.
        executor = InstructionExecutor(
            memory,
            watched,
            guided,
            on_step=lambda _: watched.look(),
            told=memory.told_facts,
            skills=SKILLS,
            limits=limits,
            known=known,
        )
        result = executor.execute(task.instruction)
        memory.experience.wait_settled(_LESSON_S)
        return result

    def _pass_time(self, seconds: float) -> None:
        self._now_ns += int(seconds * 1e9)


class _WatchedRobot:
    """The robot as the executor sees it: memory looks on, and the judge."""

    def __init__(
        self,
        robot: SymbolicRobot,
        memory: RobotMemory,
        history: GoalHistory | None,
        pass_time: Callable[[float], None],
    ) -> None:
        self._robot, self._memory, self._history, self._pass_time = robot, memory, history, pass_time

    def execute(self, call: SkillCall) -> SkillResult:
        """Run one skill to its end."""
        result = self._robot.execute(call)
        self._pass_time(result.duration_s)
        if self._history is not None:
            self._history.watch()
        return result

    def look(self) -> None:
        """Let memory see the room, and notice what is not there any more."""
        scene = self._memory.scene()
        rooms = self._robot.world.plan
        gone = [
            StateChange(one.id, one.class_name, self._robot.observe().stamp_ns, destroyed=True, source="camera")
            for one in scene.objects
            if one.movable
            and not one.removed
            and rooms.room_at(*(float(value) for value in one.box.center[:2])) == self._robot.room
            and not self._robot.sees_at(one.class_name, one.box)
            and not self._is_held(one.id)
        ]
        self._memory.remember(gone)
        self._memory.observe(self._robot.observe())

    def _is_held(self, object_id: str) -> bool:
        held = self._memory.held_object()
        return held is not None and held.object_id == object_id


def given(task: Task, home: Home, lines: Sequence[str]) -> tuple[bool, ...]:
    """Return for each related first task whether its instruction, or what was learnt from it, stands in some lines."""
    text = _plain(" ".join(lines))
    said = {first.id: first.instruction for first in home.first}
    told = task.told.splitlines() or [""] * len(task.related)
    return tuple(
        _plain(said[name]) in text or any(_share(learnt, line) >= _GIVEN_SHARE for line in lines)
        for name, learnt in zip(task.related, told)
    )


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))


def _share(learnt: str, line: str) -> float:
    wanted = set(stems(learnt))
    return len(wanted & set(stems(line))) / len(wanted) if wanted else 0.0


def _show_home(memory: RobotMemory, home: Home, now_ns: int) -> None:
    """Let memory know rooms and furniture, as a robot that has been shown its home does."""
    if memory.scene().objects:
        memory.confirm_relocalization()  # after a restart it stands in the same map
        return
    plan = FloorPlan(home)
    start = plan.start.position
    memory.set_map(plan.map(), now_ns, (float(start[0]), float(start[1])))
    task = home.first[0].model_copy(update={"objects": ()})
    robot = SymbolicRobot(SymbolicWorld(plan, task), lambda: now_ns, lambda area: (0.0, 0.0))
    for room, (x, y) in plan.rooms.items():
        robot.execute(SkillCall("GoToObject", (f"{x},{y}",)))
        memory.observe(robot.observe())
        known = min(memory.scene().rooms, key=lambda one: abs(one.center[0] - x) + abs(one.center[1] - y))
        memory.edit("name_room", known.id, new_class=room.replace("_", " "))

"""Lives of the robot in homes: it patrols, is restarted, and carries out instruction after instruction; it takes along
what its episodes taught."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from benchmarks.ablated_memory import KARMA_NO_SHORT_TERM, ablated, sources_of
from benchmarks.alfred_home import ALFRED_REACH_M
from benchmarks.household_cases import Case
from benchmarks.household_faults import Chances, Faults
from benchmarks.household_goals import Judge, judge_of
from benchmarks.household_homes import Homes, area_position, lay_map, some_classes
from memory_node.catalogue.class_name import folded
from memory_node.catalogue.label_space import load_catalogue
from memory_node.catalogue.object_kind import Property
from memory_node.context.config import CompilerConfig
from memory_node.context.guidance import GuidancePort
from memory_node.domain.context import ContextSource
from memory_node.domain.geometry import FloatArray, OrientedBox, Pose
from memory_node.domain.ports import TextEmbedder
from memory_node.domain.skill import SkillCall, SkillFailure, SkillResult, StateChange
from memory_node.lessons.experience import Experience
from memory_node.memory import RobotMemory
from memory_node.memory_config import MemoryConfig
from memory_node.opening import open_memory
from memory_node.planner.executor import InstructionExecutor, InstructionResult
from memory_node.planner.guided_planner import GuidedPlanner
from memory_node.planner.planner import Lookup, Planner
from memory_node.scene_graph.config import SceneGraphConfig
from memory_node.sim.execution import ExecutionFaults, RobotConfig
from memory_node.sim.robot import HomeRobot
from memory_node.sim.visibility import horizontal_distance
from memory_node.sim.world import World

SAME_PLACE_M = 0.5
SEEN_WITHIN_M = 0.2
# The oracle sees 1.5 m far: areas this far apart leave no furniture unseen.
AREA_SPACING_M = 0.6
_DAY_NS = 86_400 * 10**9
# A lesson takes milliseconds; the next task begins when it is learnt.
_LESSON_S = 60.0
_LOOK_S = 1.0


@dataclass
class Trial:
    """One instruction carried out: result, conditions met, and how memory answered.

    lookups_needed: questions for things that the robot had seen; lookups_right: those answered with one of them.
    recalls: questions of whose class a thing was handled next; recalls_right: those whose short-term units hold it.
    failures: "Skill(Class, ...): reason" of each skill that failed.
    """

    case: Case
    result: InstructionResult
    met: int
    conditions: int
    problems: tuple[str, ...]
    lookups_needed: int
    lookups_right: int
    context_tokens: int
    failures: tuple[str, ...] = ()
    recalls: int = 0
    recalls_right: int = 0

    @property
    def success(self) -> bool:
        """Whether every condition was met."""
        return self.conditions > 0 and self.met == self.conditions


def ignore_trial(_: Trial) -> None:
    """Tell nobody of a trial."""


class Life:
    """A robot and its memory on one floor plan.

    mode: which parts of memory answer (ablated_memory.MODES). experience: what the robot learns from its episodes,
    on this floor plan and on others; by default what this life alone teaches. faults: of its skills. unknown:
    the share of the home's classes, in [0, 1], that the patrol has not seen. guidance: compiles memory at each step,
    where experience is among what memory tells; None: nobody does.
    """

    def __init__(
        self,
        mode: str,
        embedder: TextEmbedder,
        planner: Planner,
        experience: Experience | None = None,
        faults: ExecutionFaults | None = None,
        unknown: float = 0.0,
        guidance: Callable[[RobotMemory], GuidancePort] | None = None,
    ) -> None:
        self._mode = mode
        self._unknown = unknown
        self._unseen: frozenset[str] = frozenset()
        self._planner = planner
        self._faults = faults
        self._sees = mode not in ("none", "experience")
        self._world: World | None = None
        self._robot: HomeRobot | None = None
        self._day = 0
        config = MemoryConfig(
            scene_graph=SceneGraphConfig(area_spacing_m=AREA_SPACING_M),
            compiler=CompilerConfig(close_m=ALFRED_REACH_M),
        )
        self._memory = open_memory(config, self._now_ns, embedder, experience)
        self._guidance = guidance(self._memory) if guidance is not None else None
        self._seen: set[str] = set()
        self._judge: Judge | None = None
        self._needed = self._right = 0
        self._recalls = RecallJudge()

    @property
    def situation(self) -> tuple[World, Pose] | None:
        """The home as it is now and where the robot stands in it; None before the first instruction."""
        return (self._world, self._robot.body.pose) if self._world is not None and self._robot is not None else None

    def equip(self, planner: Planner, faults: ExecutionFaults) -> None:
        """Let the robot go on with another planner and other faults of its skills."""
        self._planner, self._faults = planner, faults

    def run(self, case: Case, world: World, judge_of: Callable[[World], Judge], attempt: int = 1) -> Trial:
        """Let the robot live through one instruction in the home as the case describes it; attempt: 1 for the first."""
        self._day += 1
        self._world, self._seen = world, set()
        self._needed = self._right = 0
        self._recalls = RecallJudge()
        config = RobotConfig(reach_m=ALFRED_REACH_M)
        if not self._memory.scene().areas:
            lay_map(self._memory, world, self._now_ns())
        where = partial(area_position, self._memory)
        self._begin_day()
        self._unseen = some_classes(world, self._unknown, case.id)
        if self._sees:
            self._patrol(HomeRobot(world, config, where, clock=self._now_ns))
        robot = HomeRobot(world, config, where, faults=self._faults, clock=self._now_ns)
        self._robot = robot
        # A restart leaves only the long-term memory.
        self._memory.cache.clear()
        world.take_changes()
        self._judge = judge_of(world)
        port, sources = ablated(self._mode, self._memory), sources_of(self._mode)
        context = port.context(case.instruction, sources=sources)
        planner = self._guided(attempt) if ContextSource.EXPERIENCE in sources else self._planner
        executor = InstructionExecutor(
            port, _WatchedRobot(self, robot), planner, on_lookup=self._judge_lookup, sources=sources
        )
        self._look(robot)
        result = executor.execute(case.instruction)
        self._memory.experience.wait_settled(_LESSON_S)
        met, conditions = self._judge.verdict(world)
        problems = tuple(self._judge.problems())
        failures = tuple(_described(step.result, world) for step in result.steps if not step.result.success)
        return Trial(
            case,
            result,
            met,
            conditions,
            problems,
            self._needed,
            self._right,
            context.tokens,
            failures,
            self._recalls.judged,
            self._recalls.right,
        )

    def _guided(self, attempt: int) -> GuidedPlanner:
        return GuidedPlanner(
            self._planner,
            self._memory.episodes,
            self._now_ns,
            first_attempt=attempt,
            guidance=self._guidance,
        )

    def run_skill(self, robot: HomeRobot, call: SkillCall) -> SkillResult:
        """Execute a skill while memory and judge watch."""
        # Before it moves: the units say where the thing is now.
        self._recalls.handle(call, robot)
        result = robot.run(call, on_progress=lambda _: self._look(robot))
        self._look(robot)
        return result

    def _look(self, robot: HomeRobot) -> None:
        assert self._world is not None
        self._seen |= {thing.id for thing in robot.visible_objects()}
        if self._sees and self._mode != KARMA_NO_SHORT_TERM:
            self._memory.observe(robot.observe())
        if self._judge is not None:
            self._judge.watch(self._world)

    def _now_ns(self) -> int:
        # Time passes between days, so that yesterday's knowledge has the right age.
        return self._day * _DAY_NS + (self._world.now_ns if self._world is not None else 0)

    def _begin_day(self) -> None:
        """Tell memory that the hand is empty: the home is laid out anew with all that was in it."""
        held = self._memory.held_object()
        if held is not None:
            self._memory.remember([StateChange(held.object_id, held.object_class, self._now_ns(), held=False)])

    def _patrol(self, robot: HomeRobot) -> None:
        """See the home before the day's instruction: every area, every fixture, and into what opens. Not measured."""
        assert self._world is not None
        home = robot.body.pose
        self._judge = None
        # Missing things are removed first, so that a moved thing is seen as new at its new place.
        self._correct(self._world)
        for area in self._memory.scene().areas:
            robot.body.move(Pose.planar(*area.position, 0.0))
            self._see_around(robot)
        for fixture in [thing for thing in self._world if thing.fixed]:
            if not robot.run(SkillCall("GoToObject", (fixture.id,))).success:
                continue
            self._see_around(robot)
            if fixture.can(Property.OPENABLE) and not fixture.is_open:
                for is_open in (True, False):
                    self._world.advance(_LOOK_S)  # two views are never of one moment
                    self._world.set_open(fixture, is_open)
                    self._see_around(robot)
        robot.body.move(home)
        self._correct_states(self._world)
        self._world.take_changes()

    def _see_around(self, robot: HomeRobot) -> None:
        frame = robot.observe(all_around=True)
        seen = [one for one in frame.observations if one.best_class not in self._unseen]
        self._memory.observe(replace(frame, observations=tuple(seen)))
        visible = robot.visible_objects(all_around=True)
        self._seen |= {thing.id for thing in visible if thing.class_name not in self._unseen}

    def _correct(self, world: World) -> None:
        """Tell memory what the oracle did not see where it should have been."""
        gone = []
        for remembered in self._memory.scene().objects:
            if remembered.removed:
                continue
            there = [
                thing
                for thing in world.of_class(remembered.class_name)
                if _is_there(thing.box, remembered.box.center, SEEN_WITHIN_M)
            ]
            if not there:
                change = StateChange(
                    remembered.id, remembered.class_name, self._now_ns(), destroyed=True, source="camera"
                )
                gone.append(change)
        self._memory.remember(gone)

    def _correct_states(self, world: World) -> None:
        """Tell memory what was done to things on an earlier day and is not so in the home that was laid out anew."""
        undone = []
        for remembered in self._memory.scene().objects:
            believed = {belief.state for belief in remembered.states}
            there = [
                thing.states
                for thing in world.of_class(remembered.class_name)
                if not remembered.removed and _is_there(thing.box, remembered.box.center)
            ]
            wrong = believed.difference(*there) if there else ()
            if wrong:
                undone.append(
                    StateChange(remembered.id, remembered.class_name, self._now_ns(), removed=tuple(sorted(wrong)))
                )
        self._memory.remember(undone)

    def _judge_lookup(self, lookup: Lookup) -> None:
        """Compare an answer with the truth, where the robot has seen what was asked for."""
        assert self._world is not None
        self._recalls.recall(lookup)
        known = [thing for thing in self._world.of_class(lookup.object_class) if thing.id in self._seen]
        if not known:
            return
        self._needed += 1
        if lookup.answer is not None:
            place = lookup.answer.position
            self._right += any(_is_there(thing.box, place) for thing in known)


class RecallJudge:
    """Counts the recalls of the short-term memory whose units contain the thing that is handled next.

    KARMA's memory retrieval accuracy (Wang et al. 2024). judged: recalls of whose class a thing was handled
    afterwards; right: those with a unit within `SAME_PLACE_M` of that thing.
    """

    def __init__(self) -> None:
        self.judged = self.right = 0
        self._waiting: list[Lookup] = []

    def recall(self, lookup: Lookup) -> None:
        """Take in a question to memory with its units."""
        self._waiting.append(lookup)

    def handle(self, call: SkillCall, robot: HomeRobot) -> None:
        """Judge the recalls of the classes of the things that a call names."""
        if call.skill == "Explore":
            return
        for text in call.arguments:
            try:
                thing = robot.resolve(text)
            except SkillFailure:
                continue
            asked = [one for one in self._waiting if folded(one.object_class) == folded(thing.class_name)]
            self._waiting = [one for one in self._waiting if one not in asked]
            self.judged += len(asked)
            self.right += sum(any(_is_there(thing.box, unit.position) for unit in one.recalled) for one in asked)


def _is_there(box: OrientedBox, place: FloatArray, within_m: float = SAME_PLACE_M) -> bool:
    rise = max(abs(float(place[2] - box.center[2])) - 0.5 * float(box.size[2]), 0.0)
    return bool(np.hypot(horizontal_distance(box, place), rise) <= within_m)


def _described(result: SkillResult, world: World) -> str:
    """Return a failure in classes, so that the same mistake in another task is known again."""
    names = [world[text].class_name if text in world else text.partition("@")[0] for text in result.call.arguments]
    return f"{SkillCall(result.call.skill, tuple(names))}: {result.reason}"


class _WatchedRobot:
    """The robot as the executor sees it."""

    def __init__(self, life: Life, robot: HomeRobot) -> None:
        self._life = life
        self._robot = robot

    def execute(self, call: SkillCall) -> SkillResult:
        """Run one skill to its end."""
        return self._life.run_skill(self._robot, call)


# Makes what compiles a memory at each step.
Guide = Callable[[RobotMemory], GuidancePort]


def guided_by_rules(memory: RobotMemory) -> GuidancePort:
    """Return the compiler that needs no model, as a planner node has it by default."""
    return memory.guidance


class Lives:
    """Carries out one case after the other. mode, experience, guidance: see Life. faults: of the executor and its
    skills; None: nothing goes wrong. seed: of the luck of each case. unknown: see Life; None: all cases of a floor plan
    are one life, else each is its own. current: the life of the running case.
    """

    def __init__(
        self,
        mode: str,
        homes: Homes,
        embedder: TextEmbedder,
        planner: Planner,
        experience: Experience,
        faults: Faults | None = None,
        seed: int = 0,
        guidance: Guide | None = guided_by_rules,
        unknown: float | None = None,
    ) -> None:
        self._homes = homes
        self._planner = planner
        self._faults = faults
        self._seed = seed
        self._begin = partial(Life, mode, embedder, planner, experience, unknown=unknown or 0.0, guidance=guidance)
        self._are_single = unknown is not None
        self._kinds = load_catalogue()
        self._lives: dict[str, Life] = {}
        self.current: Life | None = None

    def run(self, case: Case, attempt: int = 1) -> Trial:
        """Carry out a case in its home; attempt: 1 for the first."""
        planner, skills = self._planner, ExecutionFaults()
        if self._faults is not None:
            planner, skills = self._faults.careless(self._planner, Chances(self._seed, case.id))
        home = case.id if self._are_single else case.floor_plan
        if home not in self._lives:
            if self._are_single:
                self._lives.clear()
            self._lives[home] = self._begin()
        self.current = life = self._lives[home]
        life.equip(planner, skills)
        return life.run(case, self._homes.world(case), partial(judge_of, case, kinds=self._kinds), attempt)

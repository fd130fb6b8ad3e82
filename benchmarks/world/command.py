"""`memory-node bench world`: is what memory believes of a home so, after each of many legal skill calls?"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.alfred_goals import goal_from_alfred
from benchmarks.alfred_home import ALFRED_REACH_M, AlfredScenes
from benchmarks.household_cases import Case, load_cases
from benchmarks.household_homes import Homes, area_position, lay_map
from benchmarks.rows import emit
from benchmarks.world.truth import Comparison, Score, ending_unseen, matched, meets
from memory_node.app.progress import progress_bar
from memory_node.catalogue.class_name import folded
from memory_node.catalogue.label_space import load_catalogue
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.context import estimate_tokens
from memory_node.domain.geometry import FloatArray, Pose
from memory_node.domain.ports import TextEmbedder
from memory_node.domain.scene import SceneSnapshot
from memory_node.domain.skill import SkillCall, SkillResult, StateChange
from memory_node.domain.skill_library import SKILLS, GoalKind
from memory_node.domain.states import ObjectState
from memory_node.memory import RobotMemory
from memory_node.memory_config import MemoryConfig
from memory_node.opening import open_memory
from memory_node.planner.goal import Goal
from memory_node.planner.known_world import KnownWorld
from memory_node.scene_graph.config import SceneGraphConfig
from memory_node.search.embedders import CachingEmbedder
from memory_node.search.minilm import MiniLmEmbedder
from memory_node.sim.execution import RobotConfig
from memory_node.sim.home_file import load_home, shipped_homes
from memory_node.sim.placement import fits, free_spot
from memory_node.sim.robot import HomeRobot
from memory_node.sim.thing import HAND
from memory_node.sim.visibility import SEEN_STATES, horizontal_distance
from memory_node.sim.world import World
from memory_node.world.episode import EpisodeWorld
from memory_node.world.remembered import remembered
from memory_node.world.skills import possible
from memory_node.world.state import Thing, WorldState

TOKENS = 1_500
# Things that the list names.
_THINGS = 30


def listed(tasks: Iterable[Mapping[str, Any]], scene: SceneSnapshot, kinds: ObjectCatalogue) -> tuple[int, int]:
    """Return how many needed kinds of things are listed within the budget, of those that memory knows any of.

    tasks: rows of ALFRED.
    """
    there = {folded(found.class_name) for found in scene.objects if not found.removed}
    found = wanted = 0
    for task in tasks:
        goal = goal_from_alfred(task["task_type"], task["pddl_params"])
        told = _told(goal, scene, kinds)
        for group in _needed(goal, kinds):
            known = {folded(name) for name in group} & there
            wanted += bool(known)
            found += bool(known & told)
    return found, wanted


def _needed(goal: Goal, kinds: ObjectCatalogue) -> Iterator[tuple[str, ...]]:
    """Yield the classes of which a plan needs one: each named thing, where it is treated, what cuts."""
    yield from (mention.candidates for mention in goal.mentions)
    usual = kinds.usual_treatment(goal.kind)
    if usual is not None and usual.at:
        yield usual.at
    cutting = kinds.usual_treatment(GoalKind.SLICE)
    if goal.sliced and cutting is not None:
        yield cutting.tools


def _told(goal: Goal, scene: SceneSnapshot, kinds: ObjectCatalogue) -> set[str]:
    """Return the classes, folded, of the things that stand in the list of a prompt within the budget."""
    about = tuple(dict.fromkeys(name for mention in goal.mentions for name in mention.candidates))
    world = KnownWorld(EpisodeWorld(kinds), about, _THINGS)
    world.refresh(scene)
    left, told = TOKENS, set()
    for line, thing in zip(world.lines(), world.things.values()):
        left -= estimate_tokens(line) + 1
        if left >= 0:
            told.add(folded(thing.object_class))
    return told


SEEN, HANDLED = "seen", "handled"
# A call in so many is a drive, so that all of the home is played with.
_DRIVES = 0.3
# Something is moved unseen before a call in so many.
_MOVES = 0.1
_AREA_SPACING_M = 0.6
# What is so near (m) to a thing may lie on it.
_TOUCHES_M = 0.01
# Who looks at a place sees from so near (m) to it whether a thing is there.
_SEEN_AT_M = 0.1
_LOOKS, _BETWEEN_LOOKS_S = 4, 0.25
_OFFERED = tuple(skill for skill in SKILLS.values() if skill.name not in ("Explore", "BreakObject", "ThrowObject"))


@dataclass
class Played:
    """What one home gave. ms: of each comparison's reading of memory, milliseconds. listed, needed: see listed."""

    scores: dict[str, Score] = field(default_factory=lambda: {SEEN: Score(), HANDLED: Score()})
    ms: list[float] = field(default_factory=list)
    listed: int = 0
    needed: int = 0


class HomePlay:
    """One robot with its memory in one home."""

    def __init__(self, world: World, kinds: ObjectCatalogue, embedder: TextEmbedder, seed: str) -> None:
        self._world = world
        self._kinds = kinds
        self._random = random.Random(seed)
        config = MemoryConfig(scene_graph=SceneGraphConfig(area_spacing_m=_AREA_SPACING_M))
        self._memory: RobotMemory = open_memory(config, self._now_ns, embedder)
        lay_map(self._memory, world, self._now_ns())
        where = partial(area_position, self._memory)
        self._robot = HomeRobot(world, RobotConfig(reach_m=ALFRED_REACH_M), where, clock=self._now_ns)
        self._seen: set[str] = set()
        self._handled: set[str] = set()
        self._moved: set[str] = set()
        self._known: dict[str, set[ObjectState]] = {}
        self._comparisons = {SEEN: Comparison(), HANDLED: Comparison()}

    def play(self, calls: int, tasks: Iterable[Mapping[str, Any]] = ()) -> Played:
        """Look at the whole home, then make calls; return what the comparisons gave. tasks: see listed."""
        self._patrol()
        played = Played()
        played.listed, played.needed = listed(tasks, self._memory.scene(), self._kinds)
        for _ in range(calls):
            if self._random.random() < _MOVES:
                self._move_unseen()
            moved = set(self._moved)
            self._follow(self._robot.run(self._call(), on_progress=lambda _: self._look()))
            for key, states in ending_unseen(self._world):
                self._known.get(key, set()).difference_update(states)
            started = time.perf_counter()
            believed = self._believed()
            played.ms.append(1e3 * (time.perf_counter() - started))
            in_view = {thing.id for thing in self._robot.visible_objects()}
            looked_at = self._looked_at(believed)
            sets = {SEEN: self._seen, HANDLED: (self._handled - self._moved) | in_view}
            movable = [one.id for one in believed if self._kinds[one.object_class].pickupable]
            claims = {SEEN: movable, HANDLED: [key for key in looked_at if key in movable]}
            for name, counted in sets.items():
                score = self._comparisons[name].score(
                    believed, self._world, self._known, counted, looked_at, claims[name], moved
                )
                played.scores[name].add(score)
        self._memory.close()
        return played

    def _now_ns(self) -> int:
        return 10**18 + self._world.now_ns

    def _believed(self) -> WorldState:
        held = self._memory.held_object()
        return remembered(self._memory.scene(), self._kinds, held.object_id if held is not None else "")

    def _miss(self) -> None:
        """Tell memory what the oracle, which has no depth image, does not see where it should be in plain view."""
        for _ in range(_LOOKS):  # what was taken for moved may be believed in again, and is looked for then
            believed = self._believed()
            there = set(matched(believed, self._world, _SEEN_AT_M).values())
            empty = [believed.things[key] for key in self._looked_at(believed) if key not in there]
            self._memory.remember(
                [StateChange(one.memory_id, one.object_class, 0, destroyed=True, source="camera") for one in empty]
            )

    def _look(self, all_around: bool = False) -> None:
        self._memory.observe(self._robot.observe(all_around))
        for thing in self._robot.visible_objects(all_around):
            self._seen.add(thing.id)
            if thing.id in self._moved:  # it may be any of its kind, of which nobody sees what was done with it
                self._known[thing.id] = set()
                self._moved.discard(thing.id)
            self._known.setdefault(thing.id, set()).update(SEEN_STATES)

    def _follow(self, result: SkillResult) -> None:
        if result.changes:
            self._memory.remember(result.changes)
        for change in result.changes:
            self._handled.add(change.object_id)
            self._seen.add(change.object_id)
            known = self._known.setdefault(change.object_id, set())
            known.difference_update(set(change.removed) - SEEN_STATES)
            known.update(change.added)
        for _ in range(_LOOKS):  # a camera goes on looking for the second that a skill takes to end
            self._world.advance(_BETWEEN_LOOKS_S)
            self._look()
        self._miss()

    def _patrol(self) -> None:
        """See the home: from every area, and into what opens."""
        home = self._robot.body.pose
        for area in self._memory.scene().areas:
            self._robot.body.move(Pose.planar(*area.position, 0.0))
            self._look(all_around=True)
        for fixture in [thing for thing in self._world if thing.fixed]:
            if self._robot.run(SkillCall("GoToObject", (fixture.id,))).success:
                self._look(all_around=True)
            if ObjectState.CLOSED in fixture.states:
                for skill in ("OpenObject", "CloseObject"):
                    self._follow(self._robot.run(SkillCall(skill, (fixture.id,))))
        self._robot.body.move(home)
        self._handled.clear()

    def _call(self) -> SkillCall:
        """Return a random call that is legal in truth."""
        state = self._true_state()
        drives = [SkillCall("GoToObject", (key,)) for key in state.things]
        others = [call for call in possible(state, _OFFERED) if call.skill != "GoToObject"]
        by_skill = sorted({call.skill for call in others})
        if not others or self._random.random() < _DRIVES:
            return self._random.choice(drives)
        skill = self._random.choice(by_skill)
        return self._random.choice([call for call in others if call.skill == skill])

    def _true_state(self) -> WorldState:
        world, here = self._world, self._robot.body.pose.position
        things = [
            Thing(
                thing.id,
                thing.class_name,
                thing.id,
                thing.id,
                container=thing.parent_id if thing.parent_id != HAND else "",
                inside=thing.inside,
                states=frozenset(thing.states),
            )
            for thing in world
            if thing.type.is_named
        ]
        near = {one.id for one in things if horizontal_distance(world[one.id].box, here) <= ALFRED_REACH_M}
        far = frozenset(one.id for one in things) - near
        return WorldState(self._kinds, {one.id: one for one in things}, world.held_id, "", far, frozenset(near))

    def _move_unseen(self) -> None:
        """Let somebody carry a thing from one open place to another, both out of the robot's sight."""
        world = self._world
        in_view = {thing.id for thing in self._robot.visible_objects(all_around=True)}
        movable = [
            one for one in world if not one.fixed and one.type.is_named and one.id not in in_view | {world.held_id}
        ]
        places = [
            one for one in world if one.fixed and one.kind.is_receptacle and one.is_open and one.id not in in_view
        ]
        free = [one for one in movable if not world.contents(one.id) and one.parent_id != HAND]
        if not free or not places:
            return
        thing, place = self._random.choice(free), self._random.choice(places)
        # Nobody leaves a thing in the air from under which another was taken, or puts one into others.
        loose = [one for one in world if not one.fixed and one.id != thing.id]
        laden = any(meets(one, thing, slack_m=_TOUCHES_M) for one in loose)
        others = [one for one in loose if meets(one, place)]
        spot = free_spot(thing, place, others) if fits(thing, place) and not laden else None
        if spot is not None and thing.parent_id != place.id:
            world.relocate(thing, spot, place)
            self._moved.add(thing.id)
            world.take_changes()

    def _looked_at(self, believed: WorldState) -> list[str]:
        """Return the keys of believed things that would be in view where they are believed to be."""
        here, world = self._robot.body.pose, self._world
        keys = []
        for thing in believed:
            if thing.position is None or thing.existence < 0.5 or thing.id == believed.held:
                continue
            ahead = here.inverse().apply(_point(thing.position))
            distance = float((ahead[0] ** 2 + ahead[1] ** 2) ** 0.5)
            wide = self._robot.config.field_of_view_rad
            is_ahead = ahead[0] > 0.3 and abs(float(np.arctan2(ahead[1], ahead[0]))) < 0.4 * wide
            shut = any(outer.door is ObjectState.CLOSED for _, outer in believed.around(thing.id))
            clear = not world.layout.hides(here.position[:2], _point(thing.position)[:2])
            if is_ahead and distance < 0.8 * self._robot.config.view_range_m and not shut and clear:
                keys.append(thing.id)
        return keys


def _point(position: tuple[float, float, float]) -> FloatArray:
    return np.array(position)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the benchmark's options."""
    parser.add_argument("--scenes", type=Path, metavar="FILE", help="scenes.json.gz of the floor plans")
    parser.add_argument("--tasks", type=Path, metavar="FILE", help="ALFRED's tasks, whose things furnish the plans")
    parser.add_argument("--sequences", type=int, default=1, metavar="N", help="sequences in each home (default 1)")
    parser.add_argument("--calls", type=int, default=100, metavar="N", help="calls of each sequence (default 100)")
    parser.add_argument("--limit", type=int, default=0, help="so many homes, evenly spread (default: all)")


def run(args: argparse.Namespace) -> int:
    """Run the benchmark; return the exit status."""
    kinds, embedder = load_catalogue(), CachingEmbedder(MiniLmEmbedder())
    homes = _Homes(args.scenes, args.tasks, args.seed)
    names = homes.names if not args.limit else homes.names[:: max(1, len(homes.names) // args.limit)][: args.limit]
    total = Played()
    with progress_bar() as bar:
        task = bar.add_task("all homes", total=len(names) * args.sequences)
        for name in names:
            home = Played()
            for number in range(args.sequences):
                play = HomePlay(homes.world(name), kinds, embedder, f"{args.seed} {name} {number}")
                played = play.play(args.calls, homes.tasks(name))
                _add(home, played)
                bar.advance(task)
            emit(list(_rows(name, home)), args.json)
            _add(total, home)
    emit(list(_rows("all", total)), args.json)
    return 0


def _add(total: Played, played: Played) -> None:
    total.ms += played.ms
    total.listed, total.needed = total.listed + played.listed, total.needed + played.needed
    for name, score in played.scores.items():
        total.scores.setdefault(name, Score()).add(score)


def _rows(home: str, played: Played) -> Iterator[dict[str, Any]]:
    p50 = round(statistics.median(played.ms), 3) if played.ms else None
    for name in (SEEN, HANDLED):
        relevant = round(played.listed / played.needed, 4) if played.needed else None
        figures = played.scores[name].figures()
        yield {"home": home, "set": name, **figures, "relevant_listed": relevant, "ms_p50": p50}


class _Homes:
    """The shipped homes and, with their file, the floor plans: furnished by a task's things, else by the classes that
    occur in them."""

    def __init__(self, scenes: Path | None, tasks: Path | None, seed: int) -> None:
        self._plans = AlfredScenes(scenes) if scenes is not None else None
        self._furnished = Homes(scenes, load_catalogue(), seed) if scenes is not None else None
        cases = load_cases(tasks, "alfred", 0, seed) if tasks is not None else []
        self._cases: dict[str, list[Case]] = {}
        for case in cases:
            self._cases.setdefault(case.floor_plan, []).append(case)
        if tasks is not None and scenes is None:
            print("--tasks furnish floor plans: give --scenes, too", file=sys.stderr)

    @property
    def names(self) -> list[str]:
        """The homes' names, the shipped ones first."""
        return [*shipped_homes(), *(self._plans.floor_plans if self._plans is not None else ())]

    def world(self, name: str) -> World:
        """Return a home as it is at first."""
        if name in shipped_homes():
            return load_home(name)
        assert self._furnished is not None
        return self._furnished.world(next(iter(self._cases.get(name, ())), Case(name, "", name, "")))

    def tasks(self, name: str) -> list[Mapping[str, Any]]:
        """Return the rows of the tasks in a home."""
        return [case.task for case in self._cases.get(name, ())]

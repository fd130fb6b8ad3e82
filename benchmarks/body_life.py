"""One life of the simulated body in one home: its tasks, what goes wrong, its reports, and the results by physics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from benchmarks.body import Outcome, RelationCount
from benchmarks.body_bridge import Body, BridgeSkills, fetch_memory
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.geometry import Pose
from memory_node.domain.scene import SceneObject
from memory_node.domain.skill import FailureReason, SkillCall, SkillResult
from memory_node.domain.states import ObjectState
from memory_node.opening import open_memory
from memory_node.planner.executor import InstructionExecutor
from memory_node.planner.memory_mode import memory_in
from memory_node.planner.open_planner import open_planner
from memory_node.search.config import RetrievalConfig
from memory_node.search.embedders import build_embedder
from memory_node.sim.noise import BodyNoise
from memory_node.sim.physics.furniture import Item, MechanismKind
from memory_node.sim.physics.home import plan_home
from memory_node.sim.physics.model import FINGER_JOINTS
from memory_node.sim.physics.motions import End
from memory_node.sim.physics.robot import TICK_S, BodyRobot
from memory_node.sim.physics.simulation import Simulation

_SLIP_EVERY_S = 150.0  # of holding, on average
_WEAK_N, _WEAK_FOR_S = 0.3, 0.5
_PUSH_M = 0.12


class Faults:
    """Draws faults from a seed; `follow` is called after every tick.

    Attributes:
        told: what happened, by name.
    """

    def __init__(self, simulation: Simulation, rng: np.random.Generator, tick_s: float) -> None:
        self._simulation = simulation
        self._rng = rng
        self._tick_s = tick_s
        self._weak_until_s = -1.0
        self.told: dict[str, int] = {}

    def follow(self) -> None:
        """Let the grip slip now and then: for a moment the fingers press with next to nothing."""
        now_s = self._simulation.time_s
        if self._weak_until_s > 0.0:
            if now_s > self._weak_until_s:
                self._weak_until_s = -1.0
                self._limit(20.0)
            return
        if self._rng.random() < self._tick_s / _SLIP_EVERY_S and self._simulation.in_hand():
            self._weak_until_s = now_s + _WEAK_FOR_S
            self._limit(_WEAK_N)
            self._note("slip")

    def between_trials(self) -> None:
        """Let a person push a thing about on what it stands on, and shut a drawer that is open."""
        things = [item.id for item in self._simulation.items.values() if not item.fixed]
        item_id = str(self._rng.choice(things))
        angle = float(self._rng.uniform(0.0, 2.0 * np.pi))
        pose = self._simulation.body_pose(item_id)
        moved = pose.position + _PUSH_M * np.array([np.cos(angle), np.sin(angle), 0.0])
        if self._simulation.is_clear(item_id, moved):
            self._simulation.place_item(item_id, Pose(moved, pose.quaternion))
            self._note("pushed")
        for item in self._simulation.items.values():
            slides = item.mechanism is not None and item.mechanism.kind is MechanismKind.SLIDE
            if slides and self._simulation.is_moved(item.id) and self._rng.random() < 0.5:
                self._simulation.move_mechanism(item.id, 0.0)
                self._note("shut")

    def _limit(self, force_n: float) -> None:
        for name in FINGER_JOINTS:
            self._simulation.limit_force(name, force_n)

    def _note(self, what: str) -> None:
        self.told[what] = self.told.get(what, 0) + 1


_START_NS = 1_700_000_000 * 10**9
_DROPOUT = 0.1
# What fits between the fingers, with room to spare.
_GRASPED_M = 0.086
_LOOKS = 4
_DRIVES = 2
_SAME_M = 0.3  # what memory has within this distance of a thing is that thing
# Where the robot looks round before its first trial: x, y in the home.
_TOUR = ((3.3, 2.0), (1.3, 1.25), (2.7, 1.25), (0.6, 2.7), (2.7, 2.9), (6.3, 1.2), (5.3, 2.9), (7.2, 2.3))


class BodyLife:
    """A home, the robot in it and its memory.

    seed: of home and noise. faults: whether things go wrong. knows_home: whether it has looked round before.
    """

    def __init__(self, seed: int, faults: bool = False, knows_home: bool = True) -> None:
        noise = BodyNoise(camera_dropout=_DROPOUT if faults else 0.0)
        self._robot = BodyRobot(plan_home(seed), noise, seed, _START_NS)
        self._simulation = self._robot.simulation
        embedder = build_embedder(RetrievalConfig())
        self._memory = open_memory(fetch_memory(), lambda: self._robot.stamp_ns, embedder)
        self._rng = np.random.default_rng(seed)
        self._faults = Faults(self._simulation, self._rng, TICK_S) if faults else None
        follow = self._faults.follow if self._faults is not None else lambda: None
        self._body = Body(self._robot, self._memory, follow)
        self._skills = BridgeSkills(self._body, self._memory)
        self._planner = open_planner("offline", embedder)
        x, y = self._simulation.base_pose().position[:2]
        self._memory.set_map(self._robot.floor(), self._robot.stamp_ns, (float(x), float(y)))
        self._items = list(self._simulation.items.values())
        if knows_home:
            self._look_round()

    def close(self) -> None:
        """Let go of camera and memory."""
        self._robot.close()
        self._memory.close()

    def pick_and_put(self, trial: int) -> list[Outcome]:
        """Fetch one thing and put it down elsewhere; an outcome for the pick, and for the put where there was one."""
        self._between_trials()
        things = self._graspable()
        thing = things[trial % len(things)]
        carriers = self._carriers_without(thing)
        carrier = carriers[trial % len(carriers)]
        pick = self._skill("pick", "PickupObject", thing.class_name)
        picked = self._simulation.in_hand() == thing.id
        outcomes = [self._outcome("pick", thing.class_name, pick, picked)]
        if not (picked and pick[0].success):
            self._let_go()
            return outcomes
        put = self._skill("put", "PutObject", thing.class_name, self._reference(carrier))
        stands = self._simulation.supports(thing.id, carrier.id)
        outcomes.append(self._outcome("put", f"{thing.class_name} on {carrier.id}", put, stands))
        self._let_go()
        return outcomes

    def work_mechanism(self, trial: int) -> list[Outcome]:
        """Open and close a drawer or door, or switch something on and off; an outcome for each."""
        self._between_trials()
        moving = [item for item in self._items if item.mechanism is not None]
        item = moving[trial % len(moving)]
        assert item.mechanism is not None
        if item.mechanism.kind is MechanismKind.BUTTON:
            steps = (("switch", "ToggleOn", ObjectState.ON), ("switch", "ToggleOff", ObjectState.OFF))
        else:
            kind = item.mechanism.kind.value
            steps = (
                (f"open {kind}", "OpenObject", ObjectState.OPENED),
                (f"close {kind}", "CloseObject", ObjectState.CLOSED),
            )
        outcomes = []
        for kind, skill, state in steps:
            done = self._skill(kind, skill, self._reference(item))
            self._body.pause(0.5)
            is_so = state in self._robot.switches.states(item.id)
            outcomes.append(self._outcome(kind, item.id, done, is_so))
            if not is_so:
                break
        return outcomes

    def run(self, trial: int, mode: str) -> Outcome:
        """Let the planner carry out `put the THING on the CARRIER`, with memory or without."""
        self._between_trials()
        thing, carrier = self._thing_and_carrier(np.random.default_rng(trial))
        words = f"put the {_spoken(thing.class_name)} on the {_spoken(carrier.class_name)}"
        started_s = self._robot.simulation.time_s
        executor = InstructionExecutor(
            memory_in(mode, self._memory), self._skills, self._planner, skills=self._skills.available
        )
        result = executor.execute(words)
        stands = self._simulation.supports(thing.id, carrier.id)
        self._let_go()
        failed = next((str(one.result.reason) for one in reversed(result.steps) if not one.result.success), "planner")
        cause = "" if stands else "denied" if result.success else failed
        distance_m = sum(one.result.distance_m for one in result.steps)
        seconds = self._robot.simulation.time_s - started_s
        return Outcome("instruction", words, result.success, stands, cause, distance_m, seconds)

    def _thing_and_carrier(self, rng: np.random.Generator) -> tuple[Item, Item]:
        """Choose a thing, and furniture that does not carry it and is the only one of its class."""
        things = self._graspable()
        thing = things[int(rng.integers(len(things)))]
        count = Counter(one.class_name for one in self._carriers())
        carriers = [one for one in self._carriers_without(thing) if count[one.class_name] == 1]
        return thing, carriers[int(rng.integers(len(carriers)))]

    def _graspable(self) -> list[Item]:
        loose = (one for one in self._items if not one.fixed)
        return [one for one in loose if float(min(self._simulation.box(one.id).size[:2])) < _GRASPED_M]

    def _carriers(self) -> list[Item]:
        """Return the furniture that things are laid on."""
        known = {surface.on for surface in self._simulation.plan.surfaces}
        return [one for one in self._items if one.id in known]

    def _carriers_without(self, thing: Item) -> list[Item]:
        """Return the furniture that things are laid on, but for what carries this one."""
        return [one for one in self._carriers() if not self._simulation.supports(thing.id, one.id)]

    def _skill(self, kind: str, skill: str, *arguments: str) -> tuple[SkillResult, float, float]:
        """Drive to the last argument and run a skill there; return its result, metres and seconds. As the planner does,
        drive once more where the skill says that it is too far."""
        started_s = self._simulation.time_s
        distance_m = 0.0
        for _ in range(_DRIVES):
            result = self._skills.execute(SkillCall("GoToObject", (arguments[-1],)))
            distance_m += result.distance_m
            if not result.success:
                break
            self._body.pause(1.0)
            result = self._skills.execute(SkillCall(skill, arguments))
            distance_m += result.distance_m
            # As the planner does: what a skill is known to have changed is told to memory.
            if result.changes:
                self._memory.remember(result.changes)
            if result.reason is not FailureReason.TOO_FAR:
                break
        return result, distance_m, self._simulation.time_s - started_s

    def _outcome(self, kind: str, what: str, done: tuple[SkillResult, float, float], is_so: bool) -> Outcome:
        result, distance_m, seconds = done
        success = is_so and result.success
        cause = "" if success else "denied" if result.success else f"{result.reason}: {result.message}"[:60]
        self._body.pause(0.6)
        seen = list(self._in_view())
        errors = tuple(gap for _, _, gap in seen)
        relations = self._relations([(item, found) for item, found, _ in seen])
        return Outcome(kind, what, result.success, success, cause, distance_m, seconds, errors, relations)

    def _in_view(self) -> Iterator[tuple[Item, SceneObject, float]]:
        """Yield what was seen in the last second, as physics and as memory has it, and how far apart these are (m)."""
        since_ns = self._robot.stamp_ns - 10**9
        for item in self._items:
            if item.fixed or item.id == self._simulation.in_hand():
                continue
            center = self._simulation.box(item.id).center
            seen = [one for one in self._remembered(item.class_name) if one.last_seen_ns > since_ns]
            gaps = [float(np.linalg.norm(one.box.center - center)) for one in seen]
            if gaps and min(gaps) < _SAME_M:
                yield item, seen[int(np.argmin(gaps))], min(gaps)

    def _relations(self, seen: Sequence[tuple[Item, SceneObject]]) -> RelationCount:
        """Compare what memory has things on or in with what carries them, by class."""
        class_of = {one.id: one.class_name for one in self._memory.scene().objects}
        told = right = there = 0
        for item, found in seen:
            carriers = {
                one.class_name for one in self._items if one is not item and self._simulation.supports(item.id, one.id)
            }
            support = class_of.get(found.support_id, "")
            told += bool(support)
            right += support in carriers
            there += bool(carriers)
        return RelationCount(told, right, there)

    def _remembered(self, class_name: str) -> list[SceneObject]:
        return [one for one in self._memory.scene().objects if one.class_name == class_name and not one.removed]

    def _reference(self, item: Item) -> str:
        """Return memory's id of a piece of furniture; its class where memory knows none there."""
        center = self._simulation.box(item.id).center
        known = self._remembered(item.class_name)
        best = min(known, key=lambda one: float(np.linalg.norm(one.box.center - center)), default=None)
        return best.id if best is not None else item.class_name

    def _between_trials(self) -> None:
        if self._faults is not None:
            self._faults.between_trials()

    def _let_go(self) -> None:
        """Bring the robot to how it begins a trial: hand open and empty, arm folded."""
        hand = self._skills.hand
        if hand.held is not None or self._simulation.in_hand():
            self._robot.finish(self._robot.move_gripper(0.1, 20.0))
            self._body.pause(1.0)
            hand.release()

    def _look_round(self) -> None:
        """See the home once and drive back to the start; not measured."""
        start = self._robot.localization.map_T_base
        for x, y in _TOUR:
            for step in range(_LOOKS):
                motion = self._robot.drive(Pose.planar(x, y, 2.0 * np.pi * step / _LOOKS))
                if motion is None or self._robot.finish(motion).end is not End.DONE:
                    break
                self._body.look()
        back = self._robot.drive(start)
        if back is None or self._robot.finish(back).end is not End.DONE:
            raise InvalidValueError("the robot cannot return to where it began")


def _spoken(class_name: str) -> str:
    return "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in class_name).strip()

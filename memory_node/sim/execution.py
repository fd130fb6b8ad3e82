"""The simulated robot's body, and one skill while it runs: its time, distance, progress reports and mishaps."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from scipy.spatial.transform import Rotation

from memory_node.domain.geometry import FloatArray, Pose, wrap_angle
from memory_node.domain.skill import FailureReason, SkillCall, SkillFailure
from memory_node.domain.skill_library import declaration
from memory_node.sim.thing import Thing
from memory_node.sim.visibility import is_visible
from memory_node.sim.world import World

if TYPE_CHECKING:
    from memory_node.sim.robot import HomeRobot


@dataclass(frozen=True)
class RobotConfig:
    """The simulated robot's body and pace.

    reach_m: how far its arm gets, seen from above. view_range_m and field_of_view_rad: what the oracle detector sees.
    look_s: one glance in one direction; a look around is four. step_s: how fine motion is shown in real time.
    """

    speed_m_s: float = 0.5
    turn_rad_s: float = 1.2
    reach_m: float = 1.0
    view_range_m: float = 1.5
    field_of_view_rad: float = 1.6
    look_s: float = 1.0
    step_s: float = 0.1
    camera_height_m: float = 1.35
    camera_pitch_rad: float = 0.4
    hand_height_m: float = 0.95
    hand_ahead_m: float = 0.4


@dataclass(frozen=True)
class ExecutionFaults:
    """How often each skill fails by itself (a slipping gripper): probability by skill name, "*" for all others."""

    probability: Mapping[str, float] = field(default_factory=dict)
    seed: int = 0

    def of(self, skill: str) -> float:
        """Return the probability in [0, 1] that the skill fails."""
        return self.probability.get(skill, self.probability.get("*", 0.0))


class Body:
    """A mobile base with one arm; the held thing follows the hand."""

    def __init__(self, world: World, config: RobotConfig) -> None:
        self._world = world
        self._config = config
        self.pose = world.layout.start

    def move(self, pose: Pose) -> None:
        """Bring the base to a planar pose, with all that the hand holds."""
        with self._world.lock:
            self.pose = pose
            held = self._world.held
            if held is not None:
                self._world.move(held, self.hand_position(), pose.yaw_rad)

    def hand_position(self) -> np.ndarray:
        """Return the middle (3,) of the hand in the map frame."""
        ahead = np.array([self._config.hand_ahead_m, 0.0, self._config.hand_height_m])
        return np.asarray(self.pose.apply(ahead))

    @property
    def camera(self) -> Pose:
        """The camera's optical frame in the map: z forward and down by the pitch, x right, y down."""
        base_T_camera = Pose(
            np.array([0.1, 0.0, self._config.camera_height_m]), _optical(self._config.camera_pitch_rad)
        )
        return self.pose @ base_T_camera


def _optical(pitch_rad: float) -> np.ndarray:
    """Return the quaternion of an optical frame that looks along x and down by `pitch_rad` (REP-103)."""
    body_R_optical = Rotation.from_matrix([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])
    return np.asarray((Rotation.from_euler("y", pitch_rad) * body_R_optical).as_quat())


@dataclass(frozen=True)
class Progress:
    """How far a running skill is: what it does, seconds and metres spent, areas visited, where the robot is."""

    call: SkillCall
    phase: str
    elapsed_s: float
    distance_m: float
    explored_areas: int
    pose: Pose


@dataclass(frozen=True)
class Pacing:
    """How simulated time passes in real time: `factor` simulated seconds a second, 0 = as fast as possible."""

    factor: float = 0.0
    sleep: Callable[[float], None] = time.sleep


class Execution:
    """The clock, odometer and reporter of one skill call.

    Raises SkillFailure(CANCELED) from any of its methods once `cancelled` says so.
    """

    def __init__(
        self,
        robot: HomeRobot,
        call: SkillCall,
        on_progress: Callable[[Progress], None] | None,
        cancelled: Callable[[], bool] | None,
    ) -> None:
        self.call = call
        self.elapsed_s = 0.0
        self.distance_m = 0.0
        self.explored_areas = 0
        self._world, self._body, self._config = robot.world, robot.body, robot.config
        self._pacing, self._faults, self._rng = robot.pacing, robot.faults, robot.rng
        self._on_progress = on_progress
        self._cancelled = cancelled

    def work(self, skill: str) -> None:
        """Spend the time that the library declares for a skill; it may fail by itself (reason EXECUTION)."""
        self.wait(declaration(skill).nominal_s, skill)
        self.risk(skill)

    def risk(self, skill: str) -> None:
        """Fail with the injected probability of the skill."""
        probability = self._faults.of(skill)
        if probability > 0.0 and self._rng.random() < probability:
            raise SkillFailure(FailureReason.EXECUTION, f"{skill} failed by itself")

    def wait(self, seconds: float, phase: str) -> None:
        """Let simulated time pass."""
        left = seconds
        while left > 1e-9:
            self._check()
            # Without real time to keep there is nothing to see between the steps.
            step = left if self._pacing.factor <= 0.0 else min(left, self._config.step_s)
            self._spend(step, phase)
            left -= step

    def drive(self, path: FloatArray, phase: str) -> None:
        """Follow waypoints (n, 2) with the base."""
        for waypoint in path[1:]:
            start = self._body.pose.position[:2]
            leg = waypoint - start
            length = float(np.linalg.norm(leg))
            if length < 1e-6:
                continue
            heading = float(np.arctan2(leg[1], leg[0]))
            self.turn(heading, phase)
            for fraction in self._fractions(length / self._config.speed_m_s):
                self._check()
                before = self._body.pose.position[:2]
                x, y = (float(value) for value in start + fraction * leg)
                self._body.move(Pose.planar(x, y, heading))
                gone = float(np.linalg.norm(self._body.pose.position[:2] - before))
                self.distance_m += gone
                self._spend(gone / self._config.speed_m_s, phase)

    def turn(self, yaw_rad: float, phase: str) -> None:
        """Turn the base to a yaw in the map frame."""
        start = self._body.pose
        angle = wrap_angle(yaw_rad - start.yaw_rad)
        seconds = abs(angle) / self._config.turn_rad_s
        if seconds < 1e-3:
            return
        before = 0.0
        for fraction in self._fractions(seconds):
            self._check()
            self._body.move(Pose.planar(start.position[0], start.position[1], start.yaw_rad + fraction * angle))
            self._spend((fraction - before) * seconds, phase)
            before = fraction

    def face(self, thing: Thing) -> None:
        """Turn towards a thing unless it is held."""
        offset = thing.box.center[:2] - self._body.pose.position[:2]
        if thing.id != self._world.held_id and float(np.linalg.norm(offset)) > 0.05:
            self.turn(float(np.arctan2(offset[1], offset[0])), f"turning to {thing.class_name}")

    def look_around(self, wanted: Callable[[], list[Thing]], phase: str) -> Thing | None:
        """Look in four directions until something wanted is in view; return it."""
        start = self._body.pose.yaw_rad
        for quarter in range(4):
            self.turn(start + 0.5 * np.pi * quarter, phase)
            self.wait(self._config.look_s, phase)
            seen = [thing for thing in wanted() if self.sees(thing)]
            if seen:
                return seen[0]
        return None

    def sees(self, thing: Thing) -> bool:
        """Return whether the thing is in view from the pose and in the direction of now."""
        config = self._config
        return is_visible(self._world, thing, self._body.pose, config.view_range_m, config.field_of_view_rad)

    def _fractions(self, seconds: float) -> FloatArray:
        steps = 1 if self._pacing.factor <= 0.0 else max(int(np.ceil(seconds / self._config.step_s)), 1)
        return np.asarray(np.linspace(0.0, 1.0, steps + 1)[1:], dtype=np.float64)

    def _spend(self, seconds: float, phase: str) -> None:
        self.elapsed_s += seconds
        self._world.advance(seconds)
        if self._on_progress is not None:
            self._on_progress(
                Progress(self.call, phase, self.elapsed_s, self.distance_m, self.explored_areas, self._body.pose)
            )
        if self._pacing.factor > 0.0:
            self._pacing.sleep(seconds / self._pacing.factor)

    def _check(self) -> None:
        if self._cancelled is not None and self._cancelled():
            raise SkillFailure(FailureReason.CANCELED, "canceled by the caller")

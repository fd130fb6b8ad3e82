"""What the robot does over time: motions of base, arm and gripper, stepped until they end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

import numpy as np

from memory_node.domain.geometry import FloatArray, Pose, wrap_angle
from memory_node.sim.physics.model import ARM_JOINTS, BASE_JOINTS, FINGER_JOINTS, FINGER_TRAVEL_M
from memory_node.sim.physics.simulation import Simulation

# rad/s of the joints and m/s of the torso at full speed, as Fetch's own limits
_FASTEST = np.array([0.1, 1.25, 1.45, 1.57, 1.52, 1.57, 2.26, 2.26])
_SETTLE_S = 1.2
_AT_GOAL = np.array([0.012, *[0.05] * 7])
_LAG = np.array([0.05, *[0.35] * 7])
_LAG_FOR_S = 0.4
_STILL_M_S = 0.002
_STILL_FOR_S = 0.15
_GRIP_LIMIT_S = 3.0


class End(Enum):
    """How a motion ended."""

    DONE = "done"
    BLOCKED = "blocked"  # something was in the way
    CANCELED = "canceled"


@dataclass(frozen=True)
class Ended:
    """The end of a motion and what there is to say about it."""

    end: End
    message: str = ""


class Motion(Protocol):
    """Something that goes on in simulated time."""

    @property
    def ended(self) -> Ended | None:
        """How it ended; None while it goes on."""

    def advance(self, duration_s: float) -> None:
        """Set the servos for the next `duration_s` simulated seconds."""

    def cancel(self) -> None:
        """Stop where it is."""


class ArmMotion:
    """Follows knots of joint positions with even speed, eased at both ends.

    speed: share of the joints' greatest velocities, in (0, 1].
    """

    def __init__(self, simulation: Simulation, knots: Sequence[FloatArray], speed: float) -> None:
        self._simulation = simulation
        self._knots = np.array(knots)
        spans = np.abs(np.diff(self._knots, axis=0)) / (_FASTEST * speed)
        ends = np.concatenate([[0.0], np.cumsum(spans.max(axis=1))])
        self._ends = ends
        # A cosine ease is half as fast again at its middle as on average: slow down by as much.
        self._whole_s = max(float(ends[-1]) * 1.4, 0.1)
        self._time_s = self._late_s = self._lagging_s = 0.0
        self.ended: Ended | None = None

    def advance(self, duration_s: float) -> None:
        """Move the setpoints on, and see whether the joints follow."""
        self._time_s += duration_s
        share = min(self._time_s / self._whole_s, 1.0)
        along = self._ends[-1] * 0.5 * (1.0 - np.cos(np.pi * share))
        wanted = np.array([np.interp(along, self._ends, self._knots[:, joint]) for joint in range(len(ARM_JOINTS))])
        self._command(wanted)
        error = np.abs(self._simulation.positions(ARM_JOINTS) - wanted)
        self._lagging_s = self._lagging_s + duration_s if (error > _LAG).any() else 0.0
        if self._lagging_s > _LAG_FOR_S:
            self._stop(Ended(End.BLOCKED, "the arm was stopped on its way"))
        elif share >= 1.0:
            self._late_s += duration_s
            if (error < 0.2 * _AT_GOAL).all() or (self._late_s > 0.5 * _SETTLE_S and (error < _AT_GOAL).all()):
                self.ended = Ended(End.DONE)
            elif self._late_s > _SETTLE_S:
                self._stop(Ended(End.BLOCKED, "the arm did not come to its goal"))

    def cancel(self) -> None:
        """Stop where the arm is."""
        self._stop(Ended(End.CANCELED))

    def _stop(self, ended: Ended) -> None:
        self._command(self._simulation.positions(ARM_JOINTS))
        self.ended = ended

    def _command(self, joints: FloatArray) -> None:
        for name, value in zip(ARM_JOINTS, joints):
            self._simulation.command(name, float(value))


class GripperMotion:
    """Opens or closes the fingers to a gap (m) with at most a force (N), until they are there or stand still."""

    def __init__(self, simulation: Simulation, gap_m: float, force_n: float) -> None:
        self._simulation = simulation
        self._goal_m = float(np.clip(0.5 * gap_m, 0.0, FINGER_TRAVEL_M))
        self._time_s = self._still_s = 0.0
        self.ended: Ended | None = None
        for name in FINGER_JOINTS:
            simulation.limit_force(name, max(force_n, 1.0))
            simulation.command(name, self._goal_m)

    @property
    def gap_m(self) -> float:
        """The gap between the fingers."""
        return float(self._simulation.positions(FINGER_JOINTS).sum())

    @property
    def reached(self) -> bool:
        """Whether the fingers are at the gap that was asked for."""
        return abs(0.5 * self.gap_m - self._goal_m) < 0.0015

    def advance(self, duration_s: float) -> None:
        """See whether the fingers have come to rest."""
        self._time_s += duration_s
        moving = max(abs(self._simulation.velocity(name)) for name in FINGER_JOINTS) > _STILL_M_S
        self._still_s = 0.0 if moving else self._still_s + duration_s
        if self._still_s > _STILL_FOR_S and (self.reached or self._time_s > 0.3):
            self.ended = Ended(End.DONE) if self.reached else Ended(End.BLOCKED, "the fingers stopped on something")
        elif self._time_s > _GRIP_LIMIT_S:
            self.ended = Ended(End.BLOCKED, "the fingers did not come to rest")

    def cancel(self) -> None:
        """Leave the fingers as they are, with the force that they have."""
        self.ended = Ended(End.CANCELED)


_FASTEST_M_S, _FASTEST_RAD_S = 0.7, 1.4
_SPEEDING_M_S2, _SPEEDING_RAD_S2 = 0.8, 2.5
# Arrived within about two errors of the map: each turn on the spot draws a new one.
_AHEAD_M, _ARRIVED_M, _ARRIVED_RAD = 0.25, 0.02, 0.01
_AIMED_RAD = 0.35
# Largest lead of the setpoint over the base; a base that lags for this long is blocked.
_LEAD_M, _LEAD_RAD = 0.1, 0.2
_HELD_UP_S = 1.0
# Recoveries: number, speed and duration of reversing the last motion.
_RECOVERIES, _BACK_M_S, _BACK_RAD_S, _BACK_S = 4, 0.15, 0.4, 1.2


class DriveMotion:
    """Turns, drives along points, turns to the goal's heading.

    Args:
        simulation: physics.
        way: points (n, 2) in map, the last is the goal's.
        goal: map_T_base at the end.
        believed: returns map_T_base as the robot believes it; it steers by that.
        replan: returns the way from where the base is then. With it, a base that is held up first takes back what it
            did last and tries again, as Nav2's recoveries do; without it, it gives up at once.
    """

    def __init__(
        self,
        simulation: Simulation,
        way: FloatArray,
        goal: Pose,
        believed: Callable[[], Pose],
        replan: Callable[[], FloatArray | None] | None = None,
    ) -> None:
        self._simulation = simulation
        self._way = way
        self._goal = goal
        self._believed = believed
        self._replan = replan
        self._recoveries = 0
        self._backing_s = 0.0
        self._taken_back = (0.0, 0.0)
        self._next = 1 if len(way) > 1 else 0
        self._speed_m_s = self._speed_rad_s = self._held_up_s = 0.0
        self._setpoint = simulation.positions(BASE_JOINTS)
        self._last = (0.0, 0.0)
        self._docked = False
        self.ended: Ended | None = None

    @property
    def left_m(self) -> float:
        """The way that is left."""
        here = self._believed().position[:2]
        rest = np.vstack([here, self._way[self._next :]])
        return float(np.linalg.norm(np.diff(rest, axis=0), axis=1).sum())

    def advance(self, duration_s: float) -> None:
        """Steer for the next `duration_s` seconds."""
        if self._backing_s > 0.0:
            forward, turn = self._taken_back
            self._backing_s -= duration_s
            if self._backing_s <= 0.0:
                self._start_again()
        else:
            forward, turn = self._wanted(self._believed())
            if abs(forward) > 0.02 or abs(turn) > 0.02:
                self._last = (forward, turn)
        self._speed_m_s += float(
            np.clip(forward - self._speed_m_s, -2 * _SPEEDING_M_S2 * duration_s, _SPEEDING_M_S2 * duration_s)
        )
        change = _SPEEDING_RAD_S2 * duration_s
        self._speed_rad_s += float(np.clip(turn - self._speed_rad_s, -2 * change, 2 * change))
        self._drive(duration_s)
        if self._held_up_s > _HELD_UP_S:
            self._recover()

    def cancel(self) -> None:
        """Stop here."""
        self._stop(Ended(End.CANCELED))

    def _recover(self) -> None:
        """Reverse the last motion for a moment; give up after several recoveries, or when reversing is blocked, too."""
        if self._replan is None or self._recoveries == _RECOVERIES:
            self._stop(Ended(End.BLOCKED, "something holds the base up"))
            return
        self._recoveries += 1
        forward, turn = self._last
        back = (-float(np.sign(forward)) * _BACK_M_S, -float(np.sign(turn)) * _BACK_RAD_S)
        # What stops the turning of a base is drawn away from by driving, too.
        self._taken_back = back if self._recoveries % 2 else (-_BACK_M_S, back[1])
        self._backing_s, self._held_up_s = _BACK_S, 0.0
        self._speed_m_s = self._speed_rad_s = 0.0
        self._setpoint = self._simulation.positions(BASE_JOINTS)

    def _start_again(self) -> None:
        way = self._replan() if self._replan is not None else None
        if way is not None:
            self._way, self._next = way, 1 if len(way) > 1 else 0

    def _wanted(self, here: Pose) -> tuple[float, float]:
        """Return the speeds (m/s, rad/s) to steer for; ends the motion at the goal."""
        rest = self._way[-1] - here.position[:2]
        distance = float(np.linalg.norm(rest))
        if distance < _ARRIVED_M or (self._docked and distance < 4.0 * _ARRIVED_M):
            self._docked = True
            error = wrap_angle(self._goal.yaw_rad - here.yaw_rad)
            if abs(error) < _ARRIVED_RAD and abs(self._speed_rad_s) < 0.1:
                self._stop(Ended(End.DONE))
            return 0.0, _eased(error, _FASTEST_RAD_S, _SPEEDING_RAD_S2)
        self._docked = False
        while self._next < len(self._way) - 1 and np.linalg.norm(self._way[self._next] - here.position[:2]) < _AHEAD_M:
            self._next += 1
        aim = self._way[self._next] - here.position[:2]
        error = wrap_angle(float(np.arctan2(aim[1], aim[0])) - here.yaw_rad)
        backwards = distance < 0.15 and abs(error) > 0.5 * np.pi
        if backwards:
            error = wrap_angle(error + np.pi)
        turn = _eased(error, _FASTEST_RAD_S, _SPEEDING_RAD_S2)
        aimed = _AIMED_RAD if distance > 0.15 else 0.1
        if abs(error) > aimed:
            return 0.0, turn
        forward = _eased(distance, _FASTEST_M_S, _SPEEDING_M_S2) * np.cos(error)
        return float(-forward if backwards else forward), turn

    def _drive(self, duration_s: float) -> None:
        actual = self._simulation.positions(BASE_JOINTS)
        yaw = actual[2]
        step = np.array([np.cos(yaw) * self._speed_m_s, np.sin(yaw) * self._speed_m_s, self._speed_rad_s]) * duration_s
        self._setpoint = self._setpoint + step
        lead = self._setpoint - actual
        held_up = bool(np.hypot(*lead[:2]) > _LEAD_M or abs(lead[2]) > _LEAD_RAD)
        if held_up:
            scale = min(1.0, _LEAD_M / max(float(np.hypot(*lead[:2])), 1e-9))
            lead = np.array([*(lead[:2] * scale), np.clip(lead[2], -_LEAD_RAD, _LEAD_RAD)])
            self._setpoint = actual + lead
        self._held_up_s = self._held_up_s + duration_s if held_up else 0.0
        self._command()

    def _stop(self, ended: Ended) -> None:
        if ended.end is not End.DONE:
            self._setpoint = self._simulation.positions(BASE_JOINTS)
        self._command()
        self.ended = ended

    def _command(self) -> None:
        for name, value in zip(BASE_JOINTS, self._setpoint):
            self._simulation.command(name, float(value))


def _eased(distance: float, fastest: float, braking: float) -> float:
    """Return the speed from which one still stops at a distance (with its sign)."""
    return float(np.sign(distance) * min(fastest, np.sqrt(2.0 * 0.6 * braking * abs(distance))))

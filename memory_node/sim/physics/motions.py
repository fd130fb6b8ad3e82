"""What the robot does over time: motions of the arm and of the gripper, stepped until they end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

import numpy as np

from memory_node.domain.geometry import FloatArray
from memory_node.sim.physics.fetch import ARM_JOINTS, FINGER_JOINTS, FINGER_TRAVEL_M
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

"""What goes wrong in a home: a grip that slips, things that are pushed, a drawer that somebody shuts."""

from __future__ import annotations

import numpy as np

from memory_node.domain.geometry import Pose
from memory_node.sim.physics.furniture import MechanismKind
from memory_node.sim.physics.model import FINGER_JOINTS
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

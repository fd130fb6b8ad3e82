"""Switches things by their buttons: the electricity of the simulated home."""

from __future__ import annotations

from memory_node.domain.states import ObjectState
from memory_node.sim.physics.item import MechanismKind
from memory_node.sim.physics.simulation import Simulation


class Switches:
    """Follows the buttons; each press turns its item on or off."""

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        self._buttons = tuple(
            item.id
            for item in simulation.items.values()
            if item.mechanism is not None and item.mechanism.kind is MechanismKind.BUTTON
        )
        self._pressed: dict[str, bool] = dict.fromkeys(self._buttons, False)
        self.on: dict[str, bool] = dict.fromkeys(self._buttons, False)

    def follow(self) -> None:
        """See which buttons have been pressed since the last time."""
        for item_id in self._buttons:
            pressed = self._simulation.is_moved(item_id)
            if pressed and not self._pressed[item_id]:
                self.on[item_id] = not self.on[item_id]
            # It springs back past half of its way before it counts again.
            mechanism = self._simulation.items[item_id].mechanism
            assert mechanism is not None
            if pressed or self._simulation.opening(item_id) < 0.5 * mechanism.moved:
                self._pressed[item_id] = pressed

    def states(self, item_id: str) -> frozenset[ObjectState]:
        """Return what can be seen of an item: open or closed, on or off."""
        item = self._simulation.items[item_id]
        if item.mechanism is None:
            return frozenset()
        if item_id in self.on:
            return frozenset({ObjectState.ON if self.on[item_id] else ObjectState.OFF})
        return frozenset({ObjectState.OPENED if self._simulation.is_moved(item_id) else ObjectState.CLOSED})

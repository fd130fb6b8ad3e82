"""What appliances do to things as time passes: heating, cooling, washing, brewing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from memory_node.catalogue.object_kind import Property
from memory_node.domain.states import ObjectState
from memory_node.sim.thing import Thing

if TYPE_CHECKING:
    from memory_node.sim.world import World

# A tap serves the basin whose middle is this close to it, seen from above.
TAP_RANGE_M = 1.0


class Processes:
    """Counts how long each thing has been exposed to each source, and applies the effect when it is done."""

    def __init__(self) -> None:
        self._exposed_s: dict[tuple[str, str], float] = {}

    def advance(self, world: World, seconds: float) -> None:
        """Let `seconds` pass in the world."""
        exposed: dict[tuple[str, str], float] = {}
        for source in world:
            for thing in _reached(world, source):
                key = (source.id, thing.id)
                exposed[key] = self._exposed_s.get(key, 0.0) + seconds
                if exposed[key] >= source.type.looks.cycle_s - 1e-9:
                    for state in _effects(source, thing):
                        world.change_state(thing, state)
        # A thing that is no longer exposed starts from zero next time.
        self._exposed_s = exposed


def chill(world: World) -> None:
    """Make cold what has been in a closed fridge since before the simulation began."""
    for source in world:
        if source.can(Property.COOLS) and not source.is_open:
            for thing in world.with_contents(source)[1:]:
                thing.add_state(ObjectState.COLD)


def basin_of(world: World, tap: Thing) -> Thing | None:
    """Return the basin that the tap's water falls into, or None when there is none near it."""
    basins = [thing for thing in world if thing.type.can(Property.DRAINS)]
    return _nearest(tap, basins)


def tap_of(world: World, basin: Thing) -> Thing | None:
    """Return the tap that serves the basin, or None."""
    taps = [thing for thing in world if thing.type.can(Property.WATERS)]
    return _nearest(basin, taps)


def _nearest(thing: Thing, others: list[Thing]) -> Thing | None:
    near = [(_apart(thing, other), other) for other in others]
    near = [pair for pair in near if pair[0] <= TAP_RANGE_M]
    return min(near, key=lambda pair: pair[0])[1] if near else None


def _apart(one: Thing, other: Thing) -> float:
    return float(np.linalg.norm(one.box.center[:2] - other.box.center[:2]))


def _reached(world: World, source: Thing) -> Iterator[Thing]:
    """Yield the things that the source works on right now."""
    if source.can(Property.COOLS) and not source.is_open:
        yield from world.with_contents(source)[1:]
    if not source.is_on:
        return
    if source.can(Property.WATERS):
        basin = basin_of(world, source)
        yield from world.with_contents(basin)[1:] if basin else ()
    elif source.can(Property.BREWS):
        yield from (thing for thing in world.contents(source.id) if thing.can(Property.FILLABLE))
    elif source.can(Property.HEATS) and (not source.can(Property.OPENABLE) or not source.is_open):
        yield from world.with_contents(source)[1:]


def _effects(source: Thing, thing: Thing) -> list[ObjectState]:
    if source.can(Property.COOLS):
        return [ObjectState.COLD]
    if source.can(Property.WATERS):
        return [ObjectState.CLEANED]
    if source.can(Property.BREWS):
        return [ObjectState.FILLED, ObjectState.HEATED]
    cooks = thing.can(Property.COOKABLE)
    return [ObjectState.HEATED, ObjectState.COOKED] if cooks else [ObjectState.HEATED]

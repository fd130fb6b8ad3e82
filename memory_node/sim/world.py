"""The simulated home's truth: its things, in which state, and how time, appliances and hands change that."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from memory_node.catalogue.object_kind import Property
from memory_node.domain.errors import InvalidValueError, NotFoundError
from memory_node.domain.geometry import FloatArray, OrientedBox, Pose
from memory_node.domain.skill import StateChange
from memory_node.domain.states import ObjectState
from memory_node.sim.layout import FreeGrid, Layout
from memory_node.sim.placement import Spot, is_above, lies_in, place_around, size_in, stands_on
from memory_node.sim.thing import HAND, Thing, TypeCatalogue, initial_states

DRAWER_TRAVEL = 0.7


class World:
    """One home at one moment. Every change goes through a method here, under `lock`.

    revision counts changes of what can be seen, so that a renderer knows when to look again. now_ns is simulated time.
    held_from: where (3,) the held thing was taken.
    """

    def __init__(
        self, layout: Layout, grid: FreeGrid, types: TypeCatalogue, things: Iterable[Thing], now_ns: int = 0
    ) -> None:
        self.layout = layout
        self.grid = grid
        self.types = types
        self.now_ns = now_ns
        self.revision = 0
        self.lock = threading.RLock()
        self.held_id = ""
        self.held_from: FloatArray = np.zeros(3)
        self._things: dict[str, Thing] = {}
        self._children: dict[str, list[str]] = {}
        self._changes: list[StateChange] = []
        self._processes = Processes()
        for thing in things:
            self.add(thing)

    def copy(self) -> World:
        """Return an independent copy, to try things out in; no process is running in it."""
        other = World(self.layout, self.grid, self.types, (), self.now_ns)
        for thing in self:
            other._things[thing.id] = replace(thing, states=set(thing.states))
        other._children = {parent: list(children) for parent, children in self._children.items()}
        other.held_id, other.held_from = self.held_id, self.held_from
        return other

    # ---- reading

    def __iter__(self) -> Iterator[Thing]:
        return iter(list(self._things.values()))

    @property
    def things(self) -> tuple[Thing, ...]:
        """All things, fixtures first."""
        return tuple(self)

    def __contains__(self, thing_id: str) -> bool:
        return thing_id in self._things

    def __getitem__(self, thing_id: str) -> Thing:
        try:
            return self._things[thing_id]
        except KeyError as error:
            raise NotFoundError(f"{self.layout.name} has nothing with id {thing_id!r}") from error

    def of_class(self, name: str) -> list[Thing]:
        """Return the things of a class, by the robot's name for it or by the household's, however it is spelt."""
        types = self.types.called(name)
        return [thing for thing in self._things.values() if thing.type in types]

    def contents(self, thing_id: str) -> list[Thing]:
        """Return what stands directly on or in a thing."""
        return [self._things[child] for child in self._children.get(thing_id, ())]

    def with_contents(self, thing: Thing) -> list[Thing]:
        """Return the thing and everything that moves with it."""
        found = [thing]
        for child in self.contents(thing.id):
            found += self.with_contents(child)
        return found

    def supports(self, thing: Thing) -> Iterator[Thing]:
        """Yield what the thing is on or in, then what that is on or in, and so on."""
        while thing.parent_id in self._things:
            thing = self._things[thing.parent_id]
            yield thing

    def closed_around(self, thing: Thing) -> Thing | None:
        """Return the closed container that hides the thing, or None when it is in the open."""
        inside = thing.inside
        for support in self.supports(thing):
            if inside and not support.is_open:
                return support
            inside = support.inside
        return None

    @property
    def held(self) -> Thing | None:
        """What the robot's hand holds, or None."""
        return self._things.get(self.held_id)

    # ---- building

    def add(self, thing: Thing) -> None:
        """Put a new thing into the home.

        Raises:
            InvalidValueError: its id is taken, or what it is said to be on does not exist.
        """
        if thing.id in self._things:
            raise InvalidValueError(f"two things are called {thing.id!r}")
        if thing.parent_id and thing.parent_id != HAND and thing.parent_id not in self._things:
            raise InvalidValueError(f"{thing.id} is on {thing.parent_id!r}, which does not exist")
        self._things[thing.id] = thing
        self._children.setdefault(thing.parent_id, []).append(thing.id)
        self.revision += 1

    # ---- what a hand can do

    def grasp(self, thing: Thing) -> None:
        """Take the thing, with what is on or in it, into the hand."""
        with self.lock:
            self._take_away(thing, HAND, inside=False)
            self.held_id, self.held_from = thing.id, thing.box.center
            self._record(thing, held=True)

    def release(self, thing: Thing, spot: Spot, receptacle: Thing | None) -> None:
        """Put the held thing at a spot, on or in a receptacle or on the floor."""
        with self.lock:
            self.relocate(thing, spot, receptacle)
            self._record(thing, held=False, **_standing(thing))

    def relocate(self, thing: Thing, spot: Spot, receptacle: Thing | None) -> None:
        """Put any thing at a spot, as somebody else does; out of the robot's hand, too. Nobody reports it."""
        with self.lock:
            inside = receptacle is not None and receptacle.kind.holds == "in"
            self._take_away(thing, receptacle.id if receptacle else "", inside)
            if self.held_id == thing.id:
                self.held_id = ""
            thing.box = OrientedBox(thing.box.center, size_in(thing, receptacle), thing.box.yaw_rad)
            self.move(thing, spot.center, spot.yaw_rad)

    def move(self, thing: Thing, center: FloatArray, yaw_rad: float) -> None:
        """Move the thing, with what is on or in it, to a new centre (3,) and yaw in the map frame."""
        with self.lock:
            old = Pose.planar(thing.box.center[0], thing.box.center[1], thing.box.yaw_rad, thing.box.center[2])
            change = Pose.planar(center[0], center[1], yaw_rad, center[2]) @ old.inverse()
            for moved in self.with_contents(thing):
                moved.box = moved.box.moved_by(change)
            self.revision += 1

    def set_open(self, thing: Thing, is_open: bool) -> None:
        """Open or close a door, lid or drawer; a drawer carries its contents with it."""
        with self.lock:
            if thing.kind.slides:
                travel = DRAWER_TRAVEL * float(thing.box.size[0]) * (1.0 if is_open else -1.0)
                ahead = np.array([np.cos(thing.box.yaw_rad), np.sin(thing.box.yaw_rad), 0.0])
                self.move(thing, thing.box.center + travel * ahead, thing.box.yaw_rad)
            self.change_state(thing, ObjectState.OPENED if is_open else ObjectState.CLOSED)

    def set_on(self, thing: Thing, is_on: bool) -> None:
        """Turn a thing on or off, and with it what it controls."""
        with self.lock:
            self.change_state(thing, ObjectState.ON if is_on else ObjectState.OFF)
            for controlled in thing.controls:
                self.change_state(self[controlled], ObjectState.ON if is_on else ObjectState.OFF)

    def slice(self, thing: Thing) -> list[Thing]:
        """Cut the thing: it is no more, its slices lie where it was and keep its other states."""
        with self.lock:
            pieces = self.types[thing.kind.slices]
            states = thing.states | {ObjectState.SLICED}
            support = self._things.get(thing.parent_id)
            self.destroy(thing)
            slices = []
            for number, center in enumerate(place_around(thing.box, pieces, thing.kind.slice_count), start=1):
                piece = Thing(
                    id=f"{thing.id}/slice{number}",
                    type=pieces,
                    box=OrientedBox(center, np.array(pieces.size_m), thing.box.yaw_rad),
                    parent_id=support.id if support else "",
                    inside=thing.inside,
                    states=initial_states(pieces) | states,
                )
                self.add(piece)
                self._record(piece, added=tuple(sorted(piece.states)), created_from=thing.id, **_standing(piece))
                slices.append(piece)
            return slices

    def destroy(self, thing: Thing) -> None:
        """End the thing; what was on or in it stays where it is, on what the thing was on."""
        with self.lock:
            for child in self.contents(thing.id):
                self._attach(child, thing.parent_id, thing.inside)
            self._children[thing.parent_id].remove(thing.id)
            del self._things[thing.id]
            if self.held_id == thing.id:
                self.held_id = ""
            self.revision += 1
            self._record(thing, destroyed=True)

    def change_state(self, thing: Thing, state: ObjectState) -> bool:
        """Make a state true and end its opposites; return whether that changed anything."""
        with self.lock:
            added, removed = thing.add_state(state)
            if added:
                self.revision += 1
                self._record(thing, added=added, removed=removed)
            return bool(added)

    # ---- time

    def advance(self, seconds: float) -> None:
        """Let simulated time pass: what runs heats, cools, washes and fills."""
        with self.lock:
            self.now_ns += round(seconds * 1e9)
            self._processes.advance(self, seconds)

    def take_changes(self) -> tuple[StateChange, ...]:
        """Return what changed since the last call."""
        with self.lock:
            changes, self._changes = tuple(self._changes), []
            return changes

    # ---- inside

    def _take_away(self, thing: Thing, parent_id: str, inside: bool) -> None:
        """Part the thing from what it stands on or in. What lies in it, as in a dish, comes along, whatever it was said
        to be on; what else stands on these comes to rest on what is below."""
        support = self._things.get(thing.parent_id)
        beside = [one for one in self.contents(thing.parent_id) if one is not thing and not one.fixed]
        beside.sort(key=lambda one: one.box.bottom_m)
        taken, left = [thing], list[Thing]()
        for other in beside:
            dish = next((one for one in taken if lies_in(other, one)), None)
            if dish is not None:
                self._attach(other, dish.id, dish.kind.holds == "in")
            (left if dish is None else taken).append(other)
        self._attach(thing, parent_id, inside)
        surfaces_m = support.surface_heights_m if support is not None else (0.0,)
        self._let_down(left, surfaces_m, [one.box for one in taken])

    def _let_down(self, left: Sequence[Thing], surfaces_m: Sequence[float], gone: list[OrientedBox]) -> None:
        """Let down what stood on boxes that are gone, and what stands on that. left: what is beside each other, the
        lowest first; surfaces_m: heights at which it stands where nothing is below it."""
        for thing in left:
            if not any(stands_on(thing.box, box) for box in gone):
                continue
            bottom_m = thing.box.bottom_m
            below = [one.box.top_m for one in left if one is not thing and is_above(thing.box, one.box)]
            below += [surface_m for surface_m in surfaces_m if surface_m <= bottom_m]
            if below and max(below) < bottom_m:
                gone.append(thing.box)
                down = np.array([0.0, 0.0, bottom_m - max(below)])
                self.move(thing, thing.box.center - down, thing.box.yaw_rad)

    def _attach(self, thing: Thing, parent_id: str, inside: bool) -> None:
        self._children[thing.parent_id].remove(thing.id)
        self._children.setdefault(parent_id, []).append(thing.id)
        thing.parent_id, thing.inside = parent_id, inside

    def _record(self, thing: Thing, **effects: object) -> None:
        if not thing.type.is_named:  # the robot has no word for it
            return
        x, y, z = (float(value) for value in thing.box.center)
        change = StateChange(thing.id, thing.class_name, self.now_ns, position=(x, y, z))
        self._changes.append(replace(change, **effects))  # type: ignore[arg-type]


def _standing(thing: Thing) -> dict[str, object]:
    return {"support_id": thing.parent_id, "inside": thing.inside}


# A tap serves the basin whose middle is this close to it, seen from above.
TAP_RANGE_M = 1.0


class Processes:
    """Counts how long each thing has been exposed to each source, and applies the effect when it is done."""

    def __init__(self) -> None:
        self._exposed_s: dict[tuple[str, str], float] = {}

    def advance(self, world: World, seconds: float) -> None:
        """Let `seconds` pass in the world."""
        exposed: dict[tuple[str, str], float] = {}
        for source, thing in works_on(world):
            key = (source.id, thing.id)
            exposed[key] = self._exposed_s.get(key, 0.0) + seconds
            if exposed[key] >= source.type.looks.cycle_s - 1e-9:
                for state in effects_on(source, thing):
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


def works_on(world: World) -> Iterator[tuple[Thing, Thing]]:
    """Yield each source with each thing that it works on right now."""
    return ((source, thing) for source in world for thing in _reached(world, source))


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


def effects_on(source: Thing, thing: Thing) -> list[ObjectState]:
    """Return the states that a source brings about in a thing, at the end of its cycle."""
    if source.can(Property.COOLS):
        return [ObjectState.COLD]
    if source.can(Property.WATERS):
        return [ObjectState.CLEANED]
    if source.can(Property.BREWS):
        return [ObjectState.FILLED, ObjectState.HEATED]
    cooks = thing.can(Property.COOKABLE)
    return [ObjectState.HEATED, ObjectState.COOKED] if cooks else [ObjectState.HEATED]

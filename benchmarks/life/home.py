"""The home of a scenario, and what other people do in it: they put things somewhere, change, bring and take them."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import takewhile
from pathlib import Path

import numpy as np

from benchmarks.household_cases import Case
from benchmarks.household_homes import Homes as FloorPlans
from benchmarks.life.day_form import Scenario
from memory_node.catalogue.label_space import load_catalogue
from memory_node.catalogue.object_kind import Property
from memory_node.domain.errors import InvalidValueError, NotFoundError, RobotMemoryError
from memory_node.domain.geometry import FloatArray, OrientedBox
from memory_node.domain.states import ObjectState
from memory_node.sim.home_file import load_home, shipped_homes
from memory_node.sim.layout import RoomPlan
from memory_node.sim.placement import Spot, fits, free_spot
from memory_node.sim.thing import HAND, ObjectType, Thing, initial_states
from memory_node.sim.visibility import horizontal_distance
from memory_node.sim.world import World

USER_CLASS = "User"
# Persons need about this much room for themselves.
_APART_M = 0.6
_PIECE = "/slice"
_S, _P = ObjectState, Property
# Which kinds of things can be in a state.
_ABLE: dict[ObjectState, frozenset[str]] = {
    _S.DIRTY: frozenset({_P.DIRTYABLE, _P.PICKUPABLE}),
    _S.CLEANED: frozenset({_P.DIRTYABLE, _P.PICKUPABLE}),
    _S.OPENED: frozenset({_P.OPENABLE}),
    _S.CLOSED: frozenset({_P.OPENABLE}),
    _S.ON: frozenset({_P.TOGGLEABLE}),
    _S.OFF: frozenset({_P.TOGGLEABLE}),
    _S.FILLED: frozenset({_P.FILLABLE}),
    _S.USED_UP: frozenset({_P.FILLABLE, _P.USABLE_UP}),
    _S.HEATED: frozenset({_P.HEATABLE, _P.COOKABLE, _P.FILLABLE}),
    _S.COOKED: frozenset({_P.COOKABLE}),
    _S.COLD: frozenset({_P.COOLABLE, _P.FILLABLE}),
    _S.SLICED: frozenset({_P.SLICEABLE}),
    _S.BROKEN: frozenset({_P.BREAKABLE}),
    _S.WIPED: frozenset({"wipeable"}),
}
USER = "user"
# Open furniture, on which further things lie in plain sight.
_TOPS = ("CounterTop", "Desk", "Dresser", "TVStand", "Shelf", "Sofa", "Bed", "ArmChair")
_TABLE = "Table"
_MOST_USED = 0.6


class NoRoomError(RobotMemoryError):
    """A thing has no room at the moment where a scenario puts it: the scenario is broken."""


def pieces_of(world: World, thing_id: str) -> list[Thing]:
    """Return the thing of an id, or its pieces where it was cut; nothing where it is gone."""
    if thing_id in world:
        return [world[thing_id]]
    return [thing for thing in world if thing.id.startswith(f"{thing_id}{_PIECE}")]


def whole_of(thing_id: str) -> str:
    """Return the id of the thing that a piece was cut from; a whole's own."""
    return re.sub(rf"(?:{_PIECE}\d+)+$", "", thing_id)


def room_called(world: World, name: str) -> RoomPlan | None:
    """Return the room of an id, or of a name as people say it; None where it is none."""
    rooms = world.layout.rooms
    return next((room for room in rooms if name == room.id), None) or next(
        (room for room in rooms if name.lower() == room.name.lower()), None
    )


def is_person(thing: Thing) -> bool:
    """Return whether a thing is a person."""
    return thing.kind.name == USER_CLASS


def can_be(thing: Thing, state: ObjectState) -> bool:
    """Return whether things of its class can be in a state."""
    return any(thing.type.can(one) for one in _ABLE[state])


def put(world: World, thing: Thing, place: str) -> None:
    """Put a thing at a place, as somebody else than the robot does: nobody tells memory.

    place: the id of a thing or person, or a room, whose floor is meant then. A person stands beside it. What is on or
    in the thing moves with it, and where the robot holds it, it is taken from the robot.

    Raises:
        InvalidValueError: there is no such place, or the thing can never be there.
        NoRoomError: there is no room now.
    """
    if is_person(thing):
        spot = person_spot(world, place, thing)
        world.relocate(thing, Spot(np.array([*spot, 0.5 * thing.box.size[2]]), thing.box.yaw_rad), None)
        return
    room = room_called(world, place)
    if room is not None and place not in world:
        center = free_floor(world, room, thing)
        world.relocate(thing, Spot(np.array([*center, 0.5 * thing.box.size[2]]), thing.box.yaw_rad), None)
        return
    receptacle = receptacle_called(world, place, thing)
    others = [one for one in world.contents(receptacle.id) if one is not thing]
    spot_there = free_spot(thing, receptacle, others)
    if spot_there is None:
        raise NoRoomError(f"there is no room for {thing.id} {receptacle.kind.holds} {receptacle.id}")
    world.relocate(thing, spot_there, receptacle)


def receptacle_called(world: World, place: str, thing: Thing) -> Thing:
    """Return the thing of an id, on or in which another can be put.

    Raises:
        InvalidValueError: there is none, it holds nothing, or not such a thing.
    """
    if place not in world:
        raise InvalidValueError(f"there is no place {place!r} in {world.layout.name}")
    receptacle = world[place]
    if not receptacle.kind.is_receptacle:
        raise InvalidValueError(f"nothing can be put on or in {place}")
    if receptacle in world.with_contents(thing):
        raise InvalidValueError(f"{place} cannot be put on or in itself")
    if not fits(thing, receptacle):
        raise InvalidValueError(f"{thing.id} does not fit {receptacle.kind.holds} {place}")
    return receptacle


def free_floor(world: World, room: RoomPlan, thing: Thing) -> FloatArray:
    """Return the free place (x, y) on a room's floor that is nearest to its middle.

    Raises:
        NoRoomError: there is none.
    """
    x0, y0, x1, y1 = room.bounds
    half = 0.5 * float(max(thing.box.size[:2]))
    points = world.grid.points
    inside = [point for point in points if x0 <= point[0] <= x1 and y0 <= point[1] <= y1]
    others = [one for one in world if not one.parent_id and not one.fixed and one is not thing]
    others += [one for one in world if is_person(one)]
    middle = np.array([0.5 * (x0 + x1), 0.5 * (y0 + y1)])
    for point in sorted(inside, key=lambda one: float(np.linalg.norm(one - middle))):
        if all(horizontal_distance(other.box, point) > half for other in others):
            return np.asarray(point)
    raise NoRoomError(f"there is no room for {thing.id} on the floor of {room.id}")


def person_spot(world: World, place: str, person: Thing | None = None) -> FloatArray:
    """Return the nearest free floor (x, y) beside a thing, or to the middle of a room.

    Raises:
        InvalidValueError: there is no such place.
        NoRoomError: other persons stand everywhere.
    """
    room = room_called(world, place)
    points: Sequence[FloatArray] = list(world.grid.points)
    if place in world:
        box = world[place].box
        points = sorted(points, key=lambda one: horizontal_distance(box, one))
    elif room is not None:
        x0, y0, x1, y1 = room.bounds
        middle = np.array([0.5 * (x0 + x1), 0.5 * (y0 + y1)])
        points = [point for point in points if room.contains(*point)]
        points = sorted(points, key=lambda one: float(np.linalg.norm(one - middle)))
    else:
        raise InvalidValueError(f"there is no place {place!r} in {world.layout.name}")
    others = [one for one in world if is_person(one) and one is not person and one.id != place]
    for point in points:
        if all(float(np.linalg.norm(one.box.center[:2] - point)) > _APART_M for one in others):
            return np.asarray(point)
    raise NoRoomError(f"there is no free floor beside {place}")


def change_states(world: World, thing: Thing, states: Sequence[ObjectState]) -> None:
    """Set those of some states that a thing can be in; a whole that is cut leaves its pieces."""
    for state in states:
        if not can_be(thing, state):
            continue
        if state in (_S.OPENED, _S.CLOSED):
            if thing.is_open != (state is _S.OPENED):
                world.set_open(thing, state is _S.OPENED)
        elif state in (_S.ON, _S.OFF):
            world.set_on(thing, state is _S.ON)
        elif state is _S.SLICED and thing.kind.slices:
            world.slice(thing)
        else:
            world.change_state(thing, state)


def new_thing(world: World, thing_id: str, class_name: str) -> Thing:
    """Return a thing that is not in the home yet.

    Raises:
        InvalidValueError: there is no such class.
    """
    kind = world.types[class_name]
    return Thing(thing_id, kind, OrientedBox(np.zeros(3), np.array(kind.size_m)), states=initial_states(kind))


def take_away(world: World, thing: Thing) -> None:
    """Take a thing out of the home, with all that is on or in it."""
    for one in reversed(world.with_contents(thing)):
        world.destroy(one)


def is_held(thing: Thing) -> bool:
    """Return whether the robot's hand holds a thing itself."""
    return thing.parent_id == HAND


class MisfitError(InvalidValueError):
    """A scenario asks for a home that cannot be; faults: where in the scenario, and why."""

    def __init__(self, *faults: tuple[tuple[str | int, ...], str]) -> None:
        super().__init__("; ".join(text for _, text in faults))
        self.faults = faults


class LifeHomes:
    """Builds the home of each scenario.

    scenes: the file of the floor plans, None without; seed: of their furnishing and of where further things lie.
    """

    def __init__(self, scenes: Path | None, seed: int) -> None:
        self._seed = seed
        self._floor_plans = FloorPlans(scenes, load_catalogue(), seed) if scenes is not None else None
        self._built: dict[str, World] = {}

    def world(self, scenario: Scenario) -> World:
        """Return a scenario's home as it is before the first event.

        Raises:
            MisfitError: there is no such home, class or place, or there is no room for what is added.
        """
        world = self.home(scenario.home).copy()
        faults = [(("extra", name), text) for name, text in self._lay_out(world, scenario)]
        for name, place in scenario.people.items():
            try:
                add_person(world, name, place)
            except RobotMemoryError as error:
                faults.append((("people", name), str(error)))
        if faults:
            raise MisfitError(*faults)
        return world

    def home(self, name: str) -> World:
        """Return a home as its file has it.

        Raises:
            MisfitError: there is none.
        """
        if name not in self._built:
            self._built[name] = self._load(name)
        return self._built[name]

    def _load(self, name: str) -> World:
        if name in shipped_homes():
            return load_home(name)
        if self._floor_plans is None:
            homes = ", ".join(shipped_homes())
            raise MisfitError((("home",), f"home: expected {homes}, or a floor plan with --scenes, got {name!r}"))
        try:
            return _with_plain_ids(self._floor_plans.world(Case(name, name, name, name)))
        except NotFoundError as error:
            raise MisfitError((("home",), str(error))) from error

    def _lay_out(self, world: World, scenario: Scenario) -> Iterator[tuple[str, str]]:
        """Lay further things out; yield each class of which not all can be."""
        generator = random.Random(f"{self._seed} {scenario.home} {sorted(scenario.extra.items())}")
        for class_name, count in scenario.extra.items():
            thing_type = world.types.get(class_name)
            if thing_type is None:
                yield class_name, f"{class_name!r} is no class"
                continue
            laid = sum(1 for _ in takewhile(bool, (_lay(world, thing_type, generator) for _ in range(count))))
            if laid < count:
                yield class_name, f"there is room for {laid} of {count} {class_name}"


def _with_plain_ids(world: World) -> World:
    """Return a floor plan whose things are called Class#1, Class#2, ... in its order, with a user in it."""
    counts: dict[str, int] = {}
    names: dict[str, str] = {"": ""}
    for thing in world:
        counts[thing.class_name] = counts.get(thing.class_name, 0) + 1
        names[thing.id] = f"{thing.class_name}#{counts[thing.class_name]}"
    things = [
        replace(
            thing,
            id=names[thing.id],
            parent_id=names[thing.parent_id],
            controls=tuple(names[one] for one in thing.controls),
        )
        for thing in world
    ]
    named = World(world.layout, world.grid, world.types, things)
    if not named.of_class(USER_CLASS):
        away = named.grid.distances_from(named.layout.start.position)
        far = named.grid.points[int(np.argmax(np.where(np.isfinite(away), away, -1.0)))]
        named.add(_person(named, USER, far))
    return named


def listed(world: World) -> Iterator[str]:
    """Yield a line for each room of a home, and for each thing in it, indented under what it is on or in."""

    def lines(thing: Thing, depth: int) -> Iterator[str]:
        opens = "opens" if thing.can(Property.OPENABLE) else ""
        holds = f"things go {thing.kind.holds} it" if thing.fixed and thing.kind.is_receptacle else ""
        said = ", ".join(filter(None, (thing.class_name, opens, holds)))
        yield f"{'  ' * depth}{thing.id} ({said})"
        for one in world.contents(thing.id):
            yield from lines(one, depth + 1)

    for room in world.layout.rooms:
        yield f"{room.id} ({room.name})"
        for thing in world:
            if not thing.parent_id and room.contains(float(thing.box.center[0]), float(thing.box.center[1])):
                yield from lines(thing, 1)


def add_person(world: World, name: str, place: str) -> Thing:
    """Let a person come in: a thing of class User, beside a thing or in a room.

    Raises:
        InvalidValueError: there is no such place, or something has this name.
        NoRoomError: see person_spot.
    """
    if name in world:
        raise InvalidValueError(f"{name!r} is the id of something else")
    spot = person_spot(world, place)
    person = _person(world, name, spot)
    world.add(person)
    return person


def _person(world: World, name: str, spot: FloatArray) -> Thing:
    kind = world.types[USER_CLASS]
    size = np.array(kind.size_m)
    box = OrientedBox(np.array([spot[0], spot[1], 0.5 * size[2]]), size, 0.0)
    return Thing(name, kind, box, fixed=True, states=initial_states(kind))


def _lay(world: World, thing_type: ObjectType, generator: random.Random) -> bool:
    """Lay one more thing on open furniture; return whether there is room."""
    number = sum(one.id.startswith(f"{thing_type.name}#") for one in world) + 1
    thing = Thing(
        f"{thing_type.name}#{number}",
        thing_type,
        OrientedBox(np.zeros(3), np.array(thing_type.size_m)),
        states=initial_states(thing_type),
    )
    tops = [one for one in world if one.fixed and _is_top(one.class_name) and fits(thing, one)]
    generator.shuffle(tops)
    for top in tops:
        others = world.contents(top.id)
        used = sum(_area(one) for one in others) + _area(thing)
        if used > _MOST_USED * _area(top):
            continue
        near = top.box.center[:2] + np.array([generator.uniform(-0.5, 0.5) for _ in range(2)]) * top.box.size[:2]
        spot = free_spot(thing, top, others, near)
        if spot is not None and spot.center[2] - 0.5 * thing.box.size[2] <= top.box.top_m + 1e-6:
            thing.box = OrientedBox(spot.center, thing.box.size, spot.yaw_rad)
            thing.parent_id, thing.inside = top.id, top.kind.holds == "in"
            world.add(thing)
            return True
    return False


def _is_top(class_name: str) -> bool:
    return class_name in _TOPS or class_name.endswith(_TABLE)


def _area(thing: Thing) -> float:
    return float(thing.box.size[0] * thing.box.size[1])

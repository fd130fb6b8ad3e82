"""The home of a scenario: a shipped one or a floor plan, with the things and persons that the scenario adds."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import takewhile
from pathlib import Path

import numpy as np

from benchmarks.household_cases import Case
from benchmarks.household_homes import Homes as FloorPlans
from benchmarks.life.day_form import Scenario
from benchmarks.life.placing import USER_CLASS, person_spot
from memory_node.catalogue.label_space import load_catalogue
from memory_node.catalogue.object_kind import Property
from memory_node.domain.errors import InvalidValueError, NotFoundError, RobotMemoryError
from memory_node.domain.geometry import FloatArray, OrientedBox
from memory_node.sim.home_file import load_home, shipped_homes
from memory_node.sim.placement import fits, free_spot
from memory_node.sim.thing import ObjectType, Thing, initial_states
from memory_node.sim.world import World

USER = "user"
# Open furniture, on which further things lie in plain sight.
_TOPS = ("CounterTop", "Desk", "Dresser", "TVStand", "Shelf", "Sofa", "Bed", "ArmChair")
_TABLE = "Table"
_MOST_USED = 0.6


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
        NoRoomError: see placing.person_spot.
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

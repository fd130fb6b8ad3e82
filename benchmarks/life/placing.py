"""What other people do to a home: they put things somewhere, change their states, bring and take them."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from memory_node.catalogue.object_kind import Property
from memory_node.domain.errors import InvalidValueError, RobotMemoryError
from memory_node.domain.geometry import FloatArray, OrientedBox
from memory_node.domain.states import ObjectState
from memory_node.sim.layout import RoomPlan
from memory_node.sim.placement import Spot, fits, free_spot
from memory_node.sim.thing import HAND, Thing, initial_states
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

"""A symbolic home, its floor plan, and a robot that drives from room to room, sees what is there, and moves things."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.memento.tasks import Home, Task
from memory_node.domain.clock import Clock
from memory_node.domain.geometry import OrientedBox, Pose
from memory_node.domain.observation import Frame, ObjectObservation
from memory_node.domain.scene import SceneObject
from memory_node.domain.skill import (
    Exploration,
    FailureReason,
    ObjectReference,
    SkillCall,
    SkillFailure,
    SkillResult,
    StateChange,
)
from memory_node.domain.skill_library import declaration, outcome_of
from memory_node.scene_graph.free_space import OccupancyMap

ROOM_SPACING_M = 5.0
_ROOM_M = 4.4
_CORRIDOR_M = 0.9
_RESOLUTION_M = 0.1
_FURNITURE_M = (0.6, 0.6, 0.7)
_FURNITURE_SPACING_M = 1.0
_SPOT_M = 0.19
_THING_M = 0.1
_SPOTS = [(0, 0), (1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, -1), (1, -1), (-1, 1)]


@dataclass(frozen=True)
class Furniture:
    """A piece of furniture, or the floor of a room. class_name: as the label space spells it."""

    id: str
    class_name: str
    room: str
    box: OrientedBox
    is_floor: bool = False

    def spot(self, number: int) -> OrientedBox:
        """Return the box of the `number`-th thing on it, counted from 0."""
        turn, layer = number % len(_SPOTS), number // len(_SPOTS)
        dx, dy = (_SPOT_M * step for step in _SPOTS[turn])
        # Things on the floor lie between the furniture.
        shift = 0.5 * _FURNITURE_SPACING_M if self.is_floor else 0.0
        x, y = self.box.center[0] + dx + shift, self.box.center[1] + dy + shift
        z = self.box.top_m + (0.5 + layer) * _THING_M
        return OrientedBox(np.array([x, y, z]), np.full(3, _THING_M))


def class_name_of(word: str) -> str:
    """Return a class as a label space spells it: `picture_frame` is PictureFrame."""
    return "".join(part.capitalize() for part in word.split("_"))


class FloorPlan:
    """The geometry of one home. rooms: their centres (x, y) in map, in the ring's order; furniture: by id."""

    def __init__(self, home: Home) -> None:
        names = tuple(home.rooms)
        self.rooms = dict(zip(names, _ring(len(names))))
        self.furniture: dict[str, Furniture] = {}
        for room, listed in home.rooms.items():
            standing = [one for one in listed if not one.startswith("floor_")]
            places = iter(_grid(self.rooms[room], len(standing)))
            for one in listed:
                if one.startswith("floor_"):
                    box = OrientedBox(np.array([*self.rooms[room], 0.0]), np.array([_ROOM_M, _ROOM_M, 0.02]))
                    self.furniture[one] = Furniture(one, "Floor", room, box, is_floor=True)
                    continue
                box = OrientedBox(np.array([*next(places), 0.5 * _FURNITURE_M[2]]), np.array(_FURNITURE_M))
                self.furniture[one] = Furniture(one, class_name_of(re.sub(r"_\d+$", "", one)), room, box)

    @property
    def start(self) -> Pose:
        """Where the robot begins: in the first room."""
        return Pose.planar(*next(iter(self.rooms.values())), 0.0)

    def room_at(self, x: float, y: float) -> str:
        """Return the room whose centre is nearest to a place in map."""
        return min(self.rooms, key=lambda name: float(np.hypot(self.rooms[name][0] - x, self.rooms[name][1] - y)))

    def way_m(self, first: str, second: str) -> float:
        """Return how far it is from one room to another along the ring, m."""
        names = tuple(self.rooms)
        steps = abs(names.index(first) - names.index(second))
        return ROOM_SPACING_M * min(steps, len(names) - steps)

    def map(self) -> OccupancyMap:
        """Return the map: rooms as squares, joined to their neighbours of the ring by corridors."""
        centres = np.array(list(self.rooms.values()))
        low, high = centres.min(axis=0) - ROOM_SPACING_M, centres.max(axis=0) + ROOM_SPACING_M
        width, height = (round(side / _RESOLUTION_M) for side in high - low)
        cells = np.full((height, width), 100, np.int8)
        rows, columns = np.mgrid[0:height, 0:width]
        x, y = low[0] + (columns + 0.5) * _RESOLUTION_M, low[1] + (rows + 0.5) * _RESOLUTION_M
        for index, centre in enumerate(centres):
            cells[(abs(x - centre[0]) < 0.5 * _ROOM_M) & (abs(y - centre[1]) < 0.5 * _ROOM_M)] = 0
            way = centres[(index + 1) % len(centres)] - centre
            length = max(float(np.hypot(*way)), 1e-9)
            along = ((x - centre[0]) * way[0] + (y - centre[1]) * way[1]) / length
            aside = abs((x - centre[0]) * way[1] - (y - centre[1]) * way[0]) / length
            cells[(along > 0.0) & (along < length) & (aside < 0.5 * _CORRIDOR_M)] = 0
        return OccupancyMap(cells, _RESOLUTION_M, Pose.planar(float(low[0]), float(low[1]), 0.0))


def _ring(count: int) -> list[tuple[float, float]]:
    """Return the centres of rooms in a ring of two rows, there and back."""
    there = (count + 1) // 2
    back = count - there
    width = ROOM_SPACING_M * (there - 1)
    centres = [(ROOM_SPACING_M * column, 0.0) for column in range(there)]
    step = width / (back - 1) if back > 1 else 0.0
    return centres + [(width - step * column, ROOM_SPACING_M) for column in range(back)]


def _grid(centre: tuple[float, float], count: int) -> list[tuple[float, float]]:
    """Return `count` places in a room, on a square grid about its centre."""
    side = int(np.ceil(np.sqrt(max(count, 1))))
    offset = 0.5 * _FURNITURE_SPACING_M * (side - 1)
    cells = [(column, row) for row in range(side) for column in range(side)][:count]
    return [
        (centre[0] + column * _FURNITURE_SPACING_M - offset, centre[1] + row * _FURNITURE_SPACING_M - offset)
        for column, row in cells
    ]


@dataclass
class Standing:
    """A thing of the home. at: the furniture's id, "" in the hand. box: where it is, or was taken from."""

    id: str
    class_name: str
    caption: str
    at: str
    box: OrientedBox


class SymbolicWorld:
    """The things of one task on the furniture of one home. moved: the ids of things that were ever taken."""

    def __init__(self, plan: FloorPlan, task: Task) -> None:
        self.plan = plan
        self.things: dict[str, Standing] = {}
        self.held: Standing | None = None
        self.moved: set[str] = set()
        for one in task.objects:
            box = self.free_spot(plan.furniture[one.at])
            self.things[one.id] = Standing(one.id, class_name_of(one.class_name), one.caption, one.at, box)

    def free_spot(self, furniture: Furniture) -> OrientedBox:
        """Return the first place on a piece of furniture on which nothing stands."""
        taken = [thing.box.center for thing in self.on(furniture.id)]
        number = 0
        while any(np.allclose(furniture.spot(number).center, center) for center in taken):
            number += 1
        return furniture.spot(number)

    def on(self, furniture_id: str) -> list[Standing]:
        """Return what stands on or in a piece of furniture."""
        return [thing for thing in self.things.values() if thing.at == furniture_id]

    def room_of(self, thing: Standing) -> str:
        """Return the room that a thing stands in, "" in the hand."""
        return self.plan.furniture[thing.at].room if thing.at else ""

    def in_room(self, room: str) -> list[Standing]:
        """Return the things of a room."""
        return [thing for thing in self.things.values() if self.room_of(thing) == room]

    def grasp(self, thing: Standing) -> None:
        """Take a thing into the hand."""
        self.held, thing.at = thing, ""
        self.moved.add(thing.id)

    def release(self, furniture: Furniture) -> None:
        """Put what the hand holds on a piece of furniture."""
        assert self.held is not None
        thing, self.held = self.held, None
        thing.box = self.free_spot(furniture)
        thing.at = furniture.id


SKILLS = frozenset({"Explore", "GoToObject", "PickupObject", "PutObject"})
_SEEN_WITHIN_M = 0.15
_SPEED_M_S = 0.5
AreaPosition = Callable[[str], tuple[float, float]]


class SymbolicRobot:
    """A `SkillPort`. Nothing is shut, no grasp fails; what a room holds is seen on entering it.

    clock: of stamps. area_position: where an area lies, (x, y) in map, KeyError for none. seconds, metres: spent.
    """

    def __init__(self, world: SymbolicWorld, clock: Clock, area_position: AreaPosition) -> None:
        self.world = world
        self.pose = world.plan.start
        self.seconds = self.metres = 0.0
        self._explored = 0  # areas that the call visited
        self._clock = clock
        self._area_position = area_position

    @property
    def room(self) -> str:
        """The room that the robot is in."""
        return self.world.plan.room_at(*(float(value) for value in self.pose.position[:2]))

    def execute(self, call: SkillCall) -> SkillResult:
        """Run one skill to its end; never raises for a skill that fails."""
        before_s, before_m = self.seconds, self.metres
        changes: list[StateChange] = []
        self._explored = 0
        return replace(
            outcome_of(call, lambda: self._act(call, changes)),
            duration_s=self.seconds - before_s,
            distance_m=self.metres - before_m,
            explored_areas=self._explored,
            changes=tuple(changes),
        )

    def observe(self) -> Frame:
        """Return what the robot sees: the furniture and the things of the room that it is in."""
        furniture = [one for one in self.world.plan.furniture.values() if one.room == self.room]
        seen: list[Furniture | Standing] = [*furniture, *self.world.in_room(self.room)]
        return Frame(self._clock(), self.pose, None, tuple(_observation(one) for one in seen))

    def sees_at(self, class_name: str, box: OrientedBox) -> bool:
        """Return whether a thing of a class stands where memory has one, within 15 cm."""
        return any(
            thing.class_name == class_name and np.linalg.norm(thing.box.center - box.center) <= _SEEN_WITHIN_M
            for thing in self.world.in_room(self.room)
        )

    def _act(self, call: SkillCall, changes: list[StateChange]) -> str:
        skill, names = call.skill, call.arguments
        if skill == "Explore":
            return self._explore(Exploration.of(call))
        if skill == "GoToObject":
            return self._go(names[0])
        if skill == "PickupObject":
            return self._pick_up(names[0], changes)
        if skill == "PutObject":
            return self._put(names[1], changes)
        raise SkillFailure(FailureReason.WRONG_OBJECT, f"{skill} is nothing that this robot does")

    def _go(self, text: str) -> str:
        place = self._place(text)
        if place is not None:
            self._drive(self.world.plan.room_at(*place))
            return ""
        found = self._resolve(text)
        room = found.room if isinstance(found, Furniture) else self.world.room_of(found)
        if room:
            self._drive(room)
        return found.id

    def _pick_up(self, text: str, changes: list[StateChange]) -> str:
        if self.world.held is not None:
            raise SkillFailure(FailureReason.HAND_FULL, "the hand is full", self.world.held.id)
        thing = self._resolve(text)
        if isinstance(thing, Furniture):
            raise SkillFailure(FailureReason.WRONG_OBJECT, f"{thing.class_name} cannot be taken", thing.id)
        self._be_in(self.world.room_of(thing), thing.id)
        self.seconds += declaration("PickupObject").nominal_s
        self.world.grasp(thing)
        changes.append(self._change(thing, held=True))
        return thing.id

    def _put(self, text: str, changes: list[StateChange]) -> str:
        held = self.world.held
        if held is None:
            raise SkillFailure(FailureReason.HAND_EMPTY, "the hand is empty")
        place = self._resolve(text)
        if not isinstance(place, Furniture):
            # Beside a thing means on what that stands on.
            place = self.world.plan.furniture[place.at] if place.at else self._own_floor()
        self._be_in(place.room, place.id)
        self.seconds += declaration("PutObject").nominal_s
        self.world.release(place)
        support = str(ObjectReference.at(place.class_name, place.box.center))
        changes.append(self._change(held, held=False, support_id=support))
        return held.id

    def _explore(self, exploration: Exploration) -> str:
        wanted = exploration.target_class

        def seen() -> str:
            things: list[Furniture | Standing] = [*self.world.in_room(self.room)]
            things += [one for one in self.world.plan.furniture.values() if one.room == self.room]
            return next((one.id for one in things if one.class_name == wanted or one.id == wanted), "")

        for stop in exploration.stops:
            if seen():
                break
            place = self._place(stop)
            self._drive(self.world.plan.room_at(*place) if place is not None else self._room_of(stop))
            self._explored += 1
        if not seen():
            raise SkillFailure(FailureReason.NOT_FOUND, f"no {wanted} seen at {self._explored} places")
        return seen()

    def _room_of(self, text: str) -> str:
        found = self._resolve(text)
        return found.room if isinstance(found, Furniture) else self.world.room_of(found) or self.room

    def _own_floor(self) -> Furniture:
        return next(one for one in self.world.plan.furniture.values() if one.is_floor and one.room == self.room)

    def _drive(self, room: str) -> None:
        way_m = self.world.plan.way_m(self.room, room)
        self.metres += way_m
        self.seconds += way_m / _SPEED_M_S
        self.pose = Pose.planar(*self.world.plan.rooms[room], 0.0)

    def _be_in(self, room: str, object_id: str) -> None:
        if room != self.room:
            raise SkillFailure(FailureReason.TOO_FAR, f"{object_id} is in another room", object_id)

    def _place(self, text: str) -> tuple[float, float] | None:
        numbers = text.split(",")
        try:
            return (float(numbers[0]), float(numbers[1])) if len(numbers) in (2, 3) else self._area_position(text)
        except (ValueError, KeyError):
            return None

    def _resolve(self, text: str) -> Furniture | Standing:
        """Return what an argument means: an id, a class at a place, or a class in the room.

        Raises:
            SkillFailure: NOT_FOUND.
        """
        every: dict[str, Furniture | Standing] = {**self.world.plan.furniture, **self.world.things}
        if text in every:
            return every[text]
        reference = ObjectReference.parse(text)
        alike = [one for one in every.values() if one.class_name == reference.object_class]
        held = self.world.held
        if reference.position is None:
            here = [one for one in alike if one is held or self._is_here(one)]
            if here:
                return here[0]
        else:
            place = np.array(reference.position)
            near = [one for one in alike if np.linalg.norm(one.box.center - place) <= _SEEN_WITHIN_M]
            if near:
                return min(near, key=lambda one: float(np.linalg.norm(one.box.center - place)))
            self._drive(self.world.plan.room_at(*reference.position[:2]))
        raise SkillFailure(FailureReason.NOT_FOUND, f"no {reference.object_class} there")

    def _is_here(self, one: Furniture | Standing) -> bool:
        return (one.room if isinstance(one, Furniture) else self.world.room_of(one)) == self.room

    def _change(self, thing: Standing, held: bool, support_id: str = "") -> StateChange:
        x, y, z = (float(value) for value in thing.box.center)
        return StateChange(
            thing.id, thing.class_name, self._clock(), held=held, support_id=support_id, position=(x, y, z)
        )


def _observation(one: Furniture | Standing) -> ObjectObservation:
    description = one.caption if isinstance(one, Standing) else ""
    return ObjectObservation({one.class_name: 1.0}, one.box, np.eye(3) * 1e-4, description=description)


def calls_to_move(thing: Standing | SceneObject, place: Furniture | SceneObject) -> Sequence[SkillCall]:
    """Return the calls that put a thing on a piece of furniture, both named by class and position."""
    thing_text, place_text = (str(ObjectReference.at(one.class_name, one.box.center)) for one in (thing, place))
    return (
        SkillCall("GoToObject", (thing_text,)),
        SkillCall("PickupObject", (thing_text,)),
        SkillCall("GoToObject", (place_text,)),
        SkillCall("PutObject", (thing_text, place_text)),
    )

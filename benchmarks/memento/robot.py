"""A robot in a symbolic home: it drives from room to room, sees what is in a room, and moves things."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from benchmarks.memento.floor_plan import Furniture
from benchmarks.memento.world import Standing, SymbolicWorld
from memory_node.domain.clock import Clock
from memory_node.domain.geometry import OrientedBox, Pose
from memory_node.domain.observation import Frame, ObjectObservation
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


def calls_to_move(thing: Standing, place: Furniture) -> Sequence[SkillCall]:
    """Return the calls that put a thing on a piece of furniture, both named by class and position."""
    thing_text = str(ObjectReference.at(thing.class_name, thing.box.center))
    place_text = str(ObjectReference.at(place.class_name, place.box.center))
    return (
        SkillCall("GoToObject", (thing_text,)),
        SkillCall("PickupObject", (thing_text,)),
        SkillCall("GoToObject", (place_text,)),
        SkillCall("PutObject", (thing_text, place_text)),
    )

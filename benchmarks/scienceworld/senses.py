"""What a robot in a lesson has read: rooms with their doors, things with what they are in or on, and states."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from benchmarks.alfworld.site import Site
from benchmarks.scienceworld.kinds import LessonKinds
from benchmarks.scienceworld.sentences import RoomSight, SeenThing
from memory_node.catalogue.class_name import folded
from memory_node.domain.clock import Clock
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.object_reference import ObjectReference
from memory_node.domain.observation import Frame
from memory_node.domain.skill import StateChange
from memory_node.domain.states import ObjectState

_SOURCE = "text"
_SAME_SPOT_M = 0.75
# Rooms in a row of the plan that the robot makes; no house has so many.
_COLUMNS = 4


@dataclass(frozen=True)
class Thing:
    """A thing. id: its name, with a number where several are called so. room, support: where it is, support the id of
    what it is in or on; both "" for what the robot has with it. inside: in it, not on it."""

    id: str
    name: str
    object_class: str
    room: str
    position: tuple[float, float, float]
    support: str = ""
    inside: bool = False


class LessonSenses:
    """Takes in what is printed. The text tells no coordinates, so each room gets a plot in the order of discovery.

    on_rooms: is called with the plan when it has grown. on_look: with each look around a room.

    Attributes:
        things: by id. at: the room in which the robot is. held: the id of what the hand holds, "" for nothing.
        doors: by room, whether the door to each neighbour is open. seen: the rooms that were looked at.
        changes: what memory has not been told yet.
    """

    def __init__(
        self,
        kinds: LessonKinds,
        clock: Clock,
        on_rooms: Callable[[Site], object],
        on_look: Callable[[Frame], object],
    ) -> None:
        self.things: dict[str, Thing] = {}
        self.at = self.held = ""
        self.doors: dict[str, dict[str, bool]] = {}
        self.seen: set[str] = set()
        self.changes: list[StateChange] = []
        self.site = Site((), _COLUMNS)
        self._kinds = kinds
        self._clock = clock
        self._on_rooms = on_rooms
        self._on_look = on_look
        self._states: dict[str, set[ObjectState]] = {}
        self._slots: dict[str, int] = {}

    # --- what is read

    def take_in_room(self, sight: RoomSight) -> None:
        """Note a look around: what is in the room now, and what is not in it any more."""
        self.at = sight.room
        self.doors[sight.room] = dict(sight.doors)
        for other, is_open in sight.doors.items():
            self.doors.setdefault(other, {}).setdefault(sight.room, is_open)
        self._lay_out((sight.room, *sight.doors))
        kept = self._took_in(sight.things)
        shut = {one.id for one in self.in_room(sight.room) if self.is_shut(one.id)}
        for thing in self.in_room(sight.room):
            # What was in a thing that is shut now is there still.
            if thing.id not in kept and thing.support not in shut:
                del self.things[thing.id]
        self.seen.add(sight.room)
        self._on_look(self.site.look_at(sight.room, self._clock()))

    def take_in_contents(self, seen: tuple[SeenThing, ...], thing: Thing) -> None:
        """Note what a look into a thing shows."""
        self._took_in(seen, {thing.name: thing.id})

    def note_door(self, other: str, is_open: bool) -> None:
        """Note that the door to a neighbouring room is open now, or closed."""
        self.doors[self.at][other] = is_open
        self.doors.setdefault(other, {})[self.at] = is_open

    def _took_in(self, seen: tuple[SeenThing, ...], supports: dict[str, str] | None = None) -> set[str]:
        """Note things of the room in which the robot is; return their ids.

        supports: ids, by name, of what they may be in.
        """
        ids: set[str] = set()
        by_name = dict(supports or {})
        inside = {one.name: one.inside for one in seen}
        for one in seen:
            support = by_name.get(one.support, "")
            thing = self._known(one, support, ids) or self._new(one)
            is_news = (thing.room, thing.support) != (self.at, support)
            if is_news:
                within = inside.get(one.support, True)
                thing = replace(thing, room=self.at, support=support, inside=within, position=self._slot())
            self.things[thing.id] = thing
            by_name[one.name] = thing.id
            ids.add(thing.id)
            if is_news:
                self.changes.append(self.sighting(thing))
            self._note_states(thing, one)
        return ids

    def _known(self, one: SeenThing, support: str, taken: set[str]) -> Thing | None:
        """Return the thing that this one was before, if any: the same place, or else the same room."""
        alike = [thing for thing in self.in_room(self.at) if thing.name == one.name and thing.id not in taken]
        there = [thing for thing in alike if thing.support == support]
        return next(iter((*there, *alike)), None)

    def _new(self, one: SeenThing) -> Thing:
        number, key = 1, one.name
        while key in self.things:
            number += 1
            key = f"{one.name} {number}"
        return Thing(key, one.name, self._kinds.class_of(one.name), "", (0.0, 0.0, 0.0))

    def _note_states(self, thing: Thing, one: SeenThing) -> None:
        told = set(one.states)
        if one.holds and not told & {ObjectState.OPENED, ObjectState.CLOSED} and self._kinds[thing.object_class].lidded:
            told.add(ObjectState.OPENED)  # it shows what is in it
        known = self._states.setdefault(thing.id, set())
        added, removed = told - known, known - told
        if added or removed:
            self._states[thing.id] = told
            self.report(thing, tuple(sorted(added)), tuple(sorted(removed)))

    # --- what is done

    def take(self, thing: Thing) -> None:
        """Note that the hand holds a thing, with what is in it."""
        self.held = thing.id
        self._move(replace(thing, room="", support="", inside=False))
        self.report(thing, held=True)

    def put(self, thing: Thing, support: Thing) -> None:
        """Note that what the hand held lies in or on a thing."""
        self.held = ""
        inside = self._kinds[support.object_class].holds_inside
        lying = replace(thing, room=self.at, support=support.id, inside=inside, position=self._slot())
        self._move(lying)
        self.report(lying, held=False)

    def carry(self, name: str) -> None:
        """Note a thing that the robot brought along; it is wherever the robot is."""
        thing = replace(self._new(SeenThing(name)), position=self._slot())
        self.things[thing.id] = thing
        self.changes.append(self.sighting(thing))

    def _move(self, thing: Thing) -> None:
        """Keep a thing where it is now, with what is in it."""
        self.things[thing.id] = thing
        for inner in [one for one in self.things.values() if one.support == thing.id]:
            self._move(replace(inner, room=thing.room, position=thing.position))

    def sighting(self, thing: Thing) -> StateChange:
        """Return that a thing was seen where it is."""
        return StateChange(
            thing.id,
            thing.object_class,
            self._clock(),
            support_id=thing.support,
            inside=thing.inside,
            position=thing.position,
            source=_SOURCE,
        )

    def report(
        self,
        thing: Thing,
        added: tuple[ObjectState, ...] = (),
        removed: tuple[ObjectState, ...] = (),
        held: bool | None = None,
    ) -> None:
        """Note a change that was made; held: whether it is in the hand now, None for no change of that."""
        change = StateChange(thing.id, thing.object_class, self._clock(), added, removed, held, source=_SOURCE)
        if held is False:
            change = replace(change, support_id=thing.support, inside=thing.inside, position=thing.position)
        self.changes.append(change)

    # --- what is known

    def in_room(self, room: str) -> list[Thing]:
        """Return the things of a room."""
        return [thing for thing in self.things.values() if thing.room == room]

    def is_shut(self, thing_id: str) -> bool:
        """Return whether a thing was last seen closed."""
        return ObjectState.CLOSED in self._states.get(thing_id, ())

    def is_called(self, thing: Thing, words: str) -> bool:
        """Return whether a name or class means a thing."""
        return folded(words) in (folded(thing.object_class), folded(thing.name))

    def meant(self, text: str) -> Thing | None:
        """Return the thing that an argument means: an id, a class, or a class at a position; what is at hand first."""
        if text in self.things:
            return self.things[text]
        try:
            reference = ObjectReference.parse(text)
        except InvalidValueError:
            return None
        alike = [one for one in self.things.values() if self.is_called(one, reference.object_class)]
        position = reference.position
        if position is None:
            return min(alike, key=lambda one: (one.id != self.held, one.room != self.at), default=None)
        near = [(math.dist(one.position, position), one.id) for one in alike]
        distance, key = min(near, default=(math.inf, ""))
        return self.things[key] if distance <= _SAME_SPOT_M else None

    def route(self, goal: str) -> tuple[str, ...] | None:
        """Return the rooms from here to another, without this one; None where no way is known."""
        ways: dict[str, tuple[str, ...]] = {self.at: ()}
        waiting = [self.at]
        for room in waiting:
            for other in self.doors.get(room, ()):
                if other not in ways:
                    ways[other] = (*ways[room], other)
                    waiting.append(other)
        return ways.get(goal)

    def _lay_out(self, rooms: tuple[str, ...]) -> None:
        places = tuple(dict.fromkeys((*self.site.places, *rooms)))
        if places != self.site.places:
            self.site = Site(places, _COLUMNS)
            self._on_rooms(self.site)

    def _slot(self) -> tuple[float, float, float]:
        number = self._slots.get(self.at, 0)
        self._slots[self.at] = number + 1
        return self.site.slot(self.at, number)

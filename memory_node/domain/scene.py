"""The long-term scene graph's values: floors, rooms, areas, objects, relations, the events of their change, and the
scene as it was at an earlier time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.geometry import FloatArray, OrientedBox, finite_array
from memory_node.domain.skill import ObjectReference
from memory_node.domain.states import StateBelief
from memory_node.domain.text_enum import TextEnum


@dataclass(frozen=True)
class HeldObject:
    """A thing in the hand; object_id: memory's."""

    object_id: str
    object_class: str


class RelationKind(TextEnum):
    """How two nodes of the scene graph stand to each other; `source kind target`."""

    CONTAINS = "contains"
    NAVIGABLE = "navigable"
    ON = "on"
    IN = "in"
    NEAR = "near"
    SUPPORTS = "supports"


@dataclass(frozen=True)
class Relation:
    """An edge of the scene graph. distance_m: path length of navigable, centre distance of near, else 0."""

    source_id: str
    kind: RelationKind
    target_id: str
    distance_m: float = 0.0
    probability: float = 1.0


@dataclass(frozen=True)
class Floor:
    """A storey: the height of its ground in the map frame."""

    id: str
    name: str
    height_m: float = 0.0


@dataclass(frozen=True)
class Room:
    """A region of the free space between doorways; centre (x, y) in the map frame."""

    id: str
    name: str
    floor_id: str
    center: tuple[float, float]
    area_m2: float = 0.0
    named_by_user: bool = False


@dataclass(frozen=True)
class Area:
    """A place where the robot can stand; the areas tile the reachable space. Position (x, y) in the map frame."""

    id: str
    name: str
    position: tuple[float, float]
    floor_id: str = ""
    room_id: str = ""
    last_viewed_ns: int = 0


@dataclass(frozen=True)
class Place:
    """One entry of an object's history of places: where it was from `since_ns` on."""

    since_ns: int
    until_ns: int
    box: OrientedBox
    area_id: str
    support_id: str = ""


@dataclass(frozen=True, eq=False)
class SceneObject:
    """One physical thing that the robot has seen, as the long-term graph believes it.

    class_probabilities sum to 1. covariance: (3, 3) of the centre, m^2. existence in [0, 1].
    last_missed_ns and times_missed: looks in vain since it was last seen, 0 for none.
    support_id: the object that it stands on or in; inside says which. anchor: id of the keyframe or submap that it
    was seen from. name: short, of class and number ("Mug 2"), unique in the site and never given again. aliases: what
    it is called besides: by people, and the names of entries that were merged into it. placed_ns: when it came to its
    present place; 0: that is not known.
    """

    id: str
    class_probabilities: dict[str, float]
    box: OrientedBox
    covariance: FloatArray
    existence: float
    first_seen_ns: int
    last_seen_ns: int
    last_missed_ns: int = 0
    times_seen: int = 1
    times_missed: int = 0
    movable: bool = True
    area_id: str = ""
    support_id: str = ""
    inside: bool = False
    anchor: str = ""
    removed: bool = False
    states: tuple[StateBelief, ...] = ()
    embedding: NDArray[np.float32] | None = None
    crop_jpeg: bytes = b""
    history: tuple[Place, ...] = ()
    provenance: str = "camera"
    attributes: dict[str, Any] = field(default_factory=dict)
    name: str = ""
    aliases: tuple[str, ...] = ()
    placed_ns: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "covariance", finite_array(self.covariance, (3, 3), "SceneObject.covariance"))
        if not 0.0 <= self.existence <= 1.0:
            raise InvalidValueError(f"SceneObject {self.id}: existence: expected 0 to 1, got {self.existence}")
        if not self.class_probabilities:
            raise InvalidValueError(f"SceneObject {self.id}: expected at least one class")

    @property
    def class_name(self) -> str:
        """The most probable class."""
        return max(self.class_probabilities, key=lambda name: self.class_probabilities[name])

    @property
    def class_probability(self) -> float:
        """The probability of the most probable class."""
        return self.class_probabilities[self.class_name]

    @property
    def reference(self) -> str:
        """How a call names it as a remembered thing: "Class@x,y,z"."""
        return str(ObjectReference.at(self.class_name, self.box.center))

    @property
    def description(self) -> str:
        """What it looks like in somebody's words, "" where nobody said."""
        return str(self.attributes.get("description", ""))

    @property
    def place_since_ns(self) -> int:
        """Since when it is at its present place; where that is not known, since it was last seen at an earlier one."""
        return self.placed_ns or (self.history[-1].until_ns if self.history else self.first_seen_ns)

    def changed(self, **changes: Any) -> SceneObject:
        """Return a copy with some fields replaced."""
        return replace(self, **changes)


class SceneEventKind(TextEnum):
    """What happened to an object of the scene graph."""

    APPEARED = "appeared"
    UPDATED = "updated"
    MOVED = "moved"
    REMOVED = "removed"
    MERGED = "merged"
    FORGOTTEN = "forgotten"


# On one round through a home the second of two things comes into view sooner.
_LONG_AFTER_NS = 600 * 10**9


def met_elsewhere(alike: Sequence[SceneObject], find: Callable[[str], SceneObject | None]) -> SceneObject | None:
    """Return which of the only two things of a kind is the other one, which was moved unseen and met again; None where
    they are two. The younger came into view long after the older was seen last, or on a support that was known long
    before without it, or a person had the older. Things are moved more often than others like them come.

    find: returns an object by its id, None for no such.
    """
    if len(alike) != 2:
        return None
    older, younger = sorted(alike, key=lambda one: one.first_seen_ns)
    came_ns, support, carrier = younger.first_seen_ns, find(younger.support_id), find(older.support_id)
    if not younger.movable or came_ns <= older.last_seen_ns:
        return None
    was_bare = support is not None and came_ns > support.first_seen_ns + _LONG_AFTER_NS
    was_carried = carrier is not None and carrier.movable  # a person puts down what was brought
    return older if was_bare or was_carried or came_ns > older.last_seen_ns + _LONG_AFTER_NS else None


@dataclass(frozen=True)
class SceneEvent:
    """One change: the object after it (before it for REMOVED, MERGED, FORGOTTEN); `into_id` is what it merged into."""

    kind: SceneEventKind
    stamp_ns: int
    object: SceneObject
    into_id: str = ""


_LATELY_NS = 24 * 3600 * 10**9


@dataclass(frozen=True)
class SceneSnapshot:
    """The whole graph at one moment, in one frame (always map, REP-105)."""

    stamp_ns: int
    floors: tuple[Floor, ...] = ()
    rooms: tuple[Room, ...] = ()
    areas: tuple[Area, ...] = ()
    objects: tuple[SceneObject, ...] = ()
    relations: tuple[Relation, ...] = ()
    frame_id: str = "map"
    frame_verified: bool = True
    version: int = 0

    @property
    def surveyed(self) -> bool:
        """Whether every area of the map was in view within a day."""
        stamps = [area.last_viewed_ns for area in self.areas]
        return bool(stamps) and min(stamps) > max(0, self.stamp_ns - _LATELY_NS)

    @cached_property
    def by_id(self) -> Mapping[str, SceneObject]:
        """The objects by their ids, removed ones included."""
        return {one.id: one for one in self.objects}

    def room_of(self, one: SceneObject) -> str:
        """Return the name of the room that a thing is in, "" where nobody knows."""
        return self.room_of_area.get(one.area_id, "")

    @cached_property
    def room_of_area(self) -> Mapping[str, str]:
        """The name of the room that each area lies in, by the area's id; "" where there is none."""
        names = {room.id: room.name for room in self.rooms}
        return {area.id: names.get(area.room_id, "") for area in self.areas}

    @cached_property
    def believed(self) -> tuple[SceneObject, ...]:
        """The objects that are there: neither removed nor met elsewhere since (see `met_elsewhere`)."""
        return tuple(one for one in self.objects if not (one.removed or self.was_met_elsewhere(one)))

    def was_met_elsewhere(self, one: SceneObject) -> bool:
        """Return whether the only other thing of its kind is it, met at another place since (see `met_elsewhere`)."""
        return one.id in self._met_elsewhere

    @cached_property
    def _met_elsewhere(self) -> frozenset[str]:
        """The ids of the objects that were met elsewhere since."""
        alike: dict[str, list[SceneObject]] = {}
        for one in self.objects:
            if not one.removed:
                alike.setdefault(one.class_name, []).append(one)
        moved = (met_elsewhere(same, self.by_id.get) for same in alike.values())
        return frozenset(one.id for one in moved if one is not None)

    def on_floor(self, floor_id: str) -> SceneSnapshot:
        """Return what is on one floor: its rooms, areas and their objects, and the relations between these."""
        areas = tuple(area for area in self.areas if area.floor_id == floor_id)
        area_ids = {area.id for area in areas}
        rooms = tuple(room for room in self.rooms if room.floor_id == floor_id)
        objects = tuple(found for found in self.objects if found.area_id in area_ids)
        ids = {floor_id, *area_ids, *(room.id for room in rooms), *(found.id for found in objects)}
        return replace(
            self,
            floors=tuple(floor for floor in self.floors if floor.id == floor_id),
            rooms=rooms,
            areas=areas,
            objects=objects,
            relations=tuple(r for r in self.relations if r.source_id in ids and r.target_id in ids),
        )


def as_of(objects: Iterable[SceneObject], stamp_ns: int) -> Iterator[SceneObject]:
    """Yield the objects that were believed present at a stamp, where they were then.

    objects: removed ones included. A place of the history holds until the next one begins; the last place of a removed
    object holds until it was last seen there. States are those whose last confirmation is not later. Class, size,
    uncertainty and counts are of now: nothing keeps older ones. `inside` is kept of the present place alone.
    """
    for found in objects:
        if found.first_seen_ns > stamp_ns:
            continue
        then = found.changed(
            states=states_as_of(found.states, stamp_ns),
            last_missed_ns=found.last_missed_ns if found.last_missed_ns <= stamp_ns else 0,
        )
        if not found.removed and found.place_since_ns <= stamp_ns:
            yield then.changed(last_seen_ns=min(found.last_seen_ns, stamp_ns))
            continue
        place = place_at(found.history, found.removed, stamp_ns)
        if place is not None:
            yield then.changed(
                box=place.box,
                area_id=place.area_id,
                support_id=place.support_id,
                inside=False,
                removed=False,
                last_seen_ns=min(place.until_ns, stamp_ns),
            )


def states_as_of(states: Iterable[StateBelief], stamp_ns: int) -> tuple[StateBelief, ...]:
    """Return the beliefs whose last confirmation is not later than a stamp."""
    return tuple(belief for belief in states if belief.confirmed_ns <= stamp_ns)


def relations_as_of(objects: Iterable[SceneObject]) -> list[Relation]:
    """Return what each of the objects of one moment stood on or in, and the areas that held them."""
    there = {found.id: found for found in objects}
    contained = [Relation(one.area_id, RelationKind.CONTAINS, one.id) for one in there.values() if one.area_id]
    held = [one for one in there.values() if one.support_id in there]
    return contained + [
        Relation(one.id, RelationKind.IN if one.inside else RelationKind.ON, one.support_id) for one in held
    ]


def moments_of(objects: Iterable[SceneObject], past: Iterable[Place] = ()) -> NDArray[np.int64]:
    """Return the stamps (n,) at which something changed, in order.

    past: the objects' earlier places; each was left by a move. That a thing was seen last is a moment, too.
    """
    found = [stamp_ns for place in past for stamp_ns in (place.since_ns, place.until_ns)]
    for one in objects:
        found.append(one.first_seen_ns)
        if one.removed or one.movable:
            found.append(one.last_seen_ns)
        found += [belief.confirmed_ns for belief in one.states if belief.confirmed_ns > 0]
    return np.unique(np.array(found, np.int64))


def place_at(history: tuple[Place, ...], removed: bool, stamp_ns: int) -> Place | None:
    """Return the earlier place that held at a stamp, None where the object was nowhere then; see `as_of`."""
    begun = [place for place in history if place.since_ns <= stamp_ns]
    if not begun or (removed and begun[-1] is history[-1] and stamp_ns > begun[-1].until_ns):
        return None
    return begun[-1]

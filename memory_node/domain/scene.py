"""The long-term scene graph's values: floors, rooms, areas, objects, relations, and the events of their change."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.geometry import FloatArray, OrientedBox, finite_array
from memory_node.domain.object_reference import ObjectReference
from memory_node.domain.states import StateBelief
from memory_node.domain.text_enum import TextEnum


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

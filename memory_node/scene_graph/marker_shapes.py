"""The graph as marker geometry: layers raised like storeys, and only what changed since the last time."""

from __future__ import annotations

import colorsys
import zlib
from dataclasses import dataclass, field

import numpy as np

from memory_node.catalogue.class_name import described
from memory_node.domain.scene import RelationKind, SceneObject, SceneSnapshot
from memory_node.domain.states import believed

Rgb = tuple[float, float, float]


def class_color(name: str) -> Rgb:
    """Return a saturated colour in [0, 1] for a class name, the same on every machine."""
    code = zlib.crc32(name.lower().encode())
    hue = (code % 997) / 997.0
    return colorsys.hls_to_rgb(hue, 0.38 + 0.14 * ((code >> 12) % 3) / 2.0, 0.55 + 0.3 * ((code >> 16) % 2))


Point = tuple[float, float, float]
# How high the layers are raised above the ground of their floor.
_AREAS_M, _ROOMS_M, _FLOORS_M = 3.0, 5.0, 7.0


@dataclass(frozen=True)
class Marker:
    """One piece of geometry. shape: "cube", "sphere", "line_list", "text"; position, size in metres; points: ends of
    lines.

    namespace and key name it for ever: (namespace, key) of what vanishes is deleted, of what changed is modified.
    """

    namespace: str
    key: str
    shape: str
    position: Point = (0.0, 0.0, 0.0)
    yaw_rad: float = 0.0
    size: Point = (0.1, 0.1, 0.1)
    color: tuple[float, float, float, float] = (0.5, 0.5, 0.5, 1.0)
    text: str = ""
    points: tuple[Point, ...] = ()


@dataclass(frozen=True)
class MarkerChanges:
    """What a display has to add or modify, and what to delete; ids are the same for the life of a marker."""

    set: tuple[tuple[int, Marker], ...] = ()
    deleted: tuple[tuple[str, int], ...] = ()


@dataclass
class MarkerDiff:
    """Remembers what was shown, and tells the difference to the next snapshot."""

    _shown: dict[tuple[str, str], tuple[int, Marker]] = field(default_factory=dict)
    _next: int = 0

    def update(self, snapshot: SceneSnapshot) -> MarkerChanges:
        """Return the changes that turn what was shown into this snapshot."""
        wanted = {(m.namespace, m.key): m for m in scene_markers(snapshot)}
        changed: list[tuple[int, Marker]] = []
        for name, marker in wanted.items():
            old = self._shown.get(name)
            if old is not None and old[1] == marker:
                continue
            number = old[0] if old is not None else self._next
            self._next += old is None
            self._shown[name] = (number, marker)
            changed.append((number, marker))
        gone = [name for name in self._shown if name not in wanted]
        deleted = tuple((name[0], self._shown.pop(name)[0]) for name in gone)
        return MarkerChanges(tuple(changed), deleted)

    def everything(self) -> MarkerChanges:
        """Return all that is shown, for a display that joins late."""
        return MarkerChanges(tuple(self._shown.values()))


def scene_markers(snapshot: SceneSnapshot) -> list[Marker]:
    """Return the markers of a snapshot: objects where they are, areas, rooms and floors raised above them, edges
    between."""
    ground = {floor.id: floor.height_m for floor in snapshot.floors}
    area_at = {a.id: _up((*a.position, ground.get(a.floor_id, 0.0)), _AREAS_M) for a in snapshot.areas}
    room_at = {r.id: _up((*r.center, ground.get(r.floor_id, 0.0)), _ROOMS_M) for r in snapshot.rooms}
    markers = _floor_markers(snapshot, room_at)
    markers += _room_markers(snapshot, room_at)
    markers += _area_markers(snapshot, area_at, room_at)
    by_id = snapshot.by_id
    for found in snapshot.objects:
        markers += _object_markers(found, area_at.get(found.area_id), by_id.get(found.support_id))
    for relation in snapshot.relations:
        if relation.kind is RelationKind.NEAR and relation.source_id in by_id and relation.target_id in by_id:
            ends = _rounded(by_id[relation.source_id].box.center), _rounded(by_id[relation.target_id].box.center)
            markers.append(_line("near", f"{relation.source_id} {relation.target_id}", [ends], (0.9, 0.75, 0.3, 0.5)))
    return markers


def _room_markers(snapshot: SceneSnapshot, room_at: dict[str, Point]) -> list[Marker]:
    markers = []
    for index, room in enumerate(snapshot.rooms):
        # Neighbours in the count differ clearly (golden ratio).
        r, g, b = colorsys.hls_to_rgb((0.58 + index * 0.618034) % 1.0, 0.90, 0.55)
        color = 0.65 * r, 0.65 * g, 0.65 * b, 1.0
        markers.append(Marker("rooms", room.id, "cube", room_at[room.id], size=(0.5, 0.5, 0.5), color=color))
        markers.append(_text("room_names", room.id, room.name, _up(room_at[room.id], 0.6), 0.4))
    return markers


def _area_markers(snapshot: SceneSnapshot, area_at: dict[str, Point], room_at: dict[str, Point]) -> list[Marker]:
    """Return each area with a line to its room, and the paths between areas."""
    markers = []
    for area in snapshot.areas:
        at = area_at[area.id]
        markers.append(Marker("areas", area.id, "sphere", at, size=(0.2, 0.2, 0.2), color=(0.45, 0.5, 0.56, 1.0)))
        if area.room_id in room_at:
            markers.append(_line("room_areas", area.id, [(room_at[area.room_id], at)], (0.6, 0.6, 0.7, 0.35)))
    ways = ((r.source_id, r.target_id) for r in snapshot.relations if r.kind is RelationKind.NAVIGABLE)
    paths = [(area_at[a], area_at[b]) for a, b in ways if a < b and a in area_at and b in area_at]
    if paths:
        markers.append(_line("paths", "all", paths, (0.45, 0.5, 0.56, 0.8)))
    return markers


def _floor_markers(snapshot: SceneSnapshot, room_at: dict[str, Point]) -> list[Marker]:
    """Return each floor above the middle of its rooms, with lines to them."""
    markers = []
    for floor in snapshot.floors:
        rooms = [room_at[room.id] for room in snapshot.rooms if room.floor_id == floor.id]
        if not rooms:
            continue
        x, y, _ = _rounded(np.mean(rooms, axis=0))
        at = _up((x, y, floor.height_m), _FLOORS_M)
        markers.append(Marker("floors", floor.id, "cube", at, size=(0.8, 0.8, 0.3), color=(0.35, 0.38, 0.42, 1.0)))
        markers.append(_text("floor_names", floor.id, floor.name, _up(at, 0.6), 0.5))
        markers.append(_line("floor_rooms", floor.id, [(at, room) for room in rooms], (0.5, 0.5, 0.6, 0.35)))
    return markers


def _object_markers(found: SceneObject, area: Point | None, support: SceneObject | None) -> list[Marker]:
    # Millimetres are left out: a display need not move for them, and the difference stays small.
    color = class_color(found.class_name)
    center = _rounded(found.box.center)
    solid = round(0.2 + 0.7 * found.existence, 1)
    size = _rounded(np.maximum(found.box.size, 0.01))
    made = [
        Marker("objects", found.id, "cube", center, round(found.box.yaw_rad, 2), size, (*color, solid)),
        _text(
            "object_names",
            found.id,
            described(found.class_name, believed(found.states)),
            _up(center, 0.5 * size[2] + 0.08),
            0.1,
        ),
    ]
    spread = 4.0 * np.sqrt(np.diagonal(found.covariance))
    if spread.max() > 0.06:
        made.append(Marker("uncertainty", found.id, "sphere", center, 0.0, _rounded(spread), (*color, 0.15)))
    if support is not None:
        made.append(_line("supports", found.id, [(center, _rounded(support.box.center))], (*color, 0.8)))
    elif area is not None:
        made.append(_line("area_objects", found.id, [(area, center)], (0.5, 0.5, 0.5, 0.25)))
    return made


def _line(
    namespace: str, key: str, ends: list[tuple[Point, Point]], color: tuple[float, float, float, float]
) -> Marker:
    return Marker(
        namespace, key, "line_list", size=(0.015, 0.0, 0.0), color=color, points=tuple(p for pair in ends for p in pair)
    )


def _text(namespace: str, key: str, text: str, at: Point, height_m: float) -> Marker:
    return Marker(
        namespace, key, "text", at, size=(height_m, height_m, height_m), color=(0.1, 0.13, 0.16, 1.0), text=text
    )


def _up(point: Point, by_m: float) -> Point:
    return point[0], point[1], round(point[2] + by_m, 2)


def _rounded(values: np.ndarray) -> Point:
    x, y, z = (round(float(value), 2) for value in values)
    return x, y, z

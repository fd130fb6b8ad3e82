"""The fixed frame of a home: rooms, walls with their doorways, and where the robot starts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.geometry import FloatArray, Pose

WALL_HEIGHT_M = 2.4
WALL_THICKNESS_M = 0.1
DOOR_HEIGHT_M = 2.0


@dataclass(frozen=True)
class RoomPlan:
    """A rectangular room; bounds (x0, y0, x1, y1) in the map frame."""

    id: str
    name: str
    bounds: tuple[float, float, float, float]

    def __post_init__(self) -> None:
        x0, y0, x1, y1 = self.bounds
        if not (x1 > x0 and y1 > y0):
            raise InvalidValueError(f"room {self.id}: expected bounds x0 < x1 and y0 < y1, got {self.bounds}")

    def contains(self, x_m: float, y_m: float) -> bool:
        """Return whether the point lies in the room."""
        x0, y0, x1, y1 = self.bounds
        return x0 <= x_m <= x1 and y0 <= y_m <= y1

    def corners(self) -> FloatArray:
        """Return its corners (4, 2), counter-clockwise."""
        x0, y0, x1, y1 = self.bounds
        return np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]])


@dataclass(frozen=True)
class Wall:
    """A straight piece of wall along an axis, from start to end (x, y); lintels hang above doorways."""

    start: tuple[float, float]
    end: tuple[float, float]
    bottom_m: float = 0.0
    top_m: float = WALL_HEIGHT_M


@dataclass(frozen=True)
class Door:
    """An open doorway in the wall at (x, y), `width_m` wide."""

    at: tuple[float, float]
    width_m: float = 0.9


@dataclass(frozen=True)
class Layout:
    """The rooms of one floor with their walls, doorways and the robot's start pose."""

    name: str
    rooms: tuple[RoomPlan, ...]
    walls: tuple[Wall, ...]
    doors: tuple[Door, ...]
    start: Pose

    def room_at(self, x_m: float, y_m: float) -> RoomPlan | None:
        """Return the room that holds the point, or None outside all rooms."""
        return next((room for room in self.rooms if room.contains(x_m, y_m)), None)

    def hides(self, origin: FloatArray, target: FloatArray) -> bool:
        """Return whether a wall crosses the straight line between two points (2,) of the map."""
        return any(wall.bottom_m == 0.0 and _crosses(wall, origin, target) for wall in self.walls)


def walls_of(rooms: tuple[RoomPlan, ...], doors: tuple[Door, ...]) -> tuple[Wall, ...]:
    """Return the walls round the rooms, each once where two rooms share it, with the doorways cut out."""
    spans: dict[tuple[str, float], list[tuple[float, float]]] = {}
    for room in rooms:
        x0, y0, x1, y1 = room.bounds
        for axis, at, low, high in (("x", x0, y0, y1), ("x", x1, y0, y1), ("y", y0, x0, x1), ("y", y1, x0, x1)):
            spans.setdefault((axis, round(at, 3)), []).append((low, high))
    walls: list[Wall] = []
    for (axis, at), pieces in spans.items():
        gaps = [_gap(door, axis) for door in doors if abs(door.at[0 if axis == "x" else 1] - at) < 0.06]
        for low, high in _merged(pieces):
            inside = sorted(gap for gap in gaps if low < gap[0] and gap[1] < high)
            walls += [_wall(axis, at, *span) for span in _without(low, high, inside)]
            walls += [_wall(axis, at, *gap, bottom_m=DOOR_HEIGHT_M) for gap in inside]
    cut = sum(wall.bottom_m > 0.0 for wall in walls)
    if cut != len(doors):
        raise InvalidValueError(f"{len(doors)} doors but {cut} of them lie in a wall between its corners")
    return tuple(walls)


def _gap(door: Door, axis: str) -> tuple[float, float]:
    middle = door.at[1 if axis == "x" else 0]
    return middle - 0.5 * door.width_m, middle + 0.5 * door.width_m


def _merged(pieces: list[tuple[float, float]]) -> list[tuple[float, float]]:
    merged: list[tuple[float, float]] = []
    for low, high in sorted(pieces):
        if merged and low <= merged[-1][1] + 1e-6:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return merged


def _without(low: float, high: float, gaps: list[tuple[float, float]]) -> list[tuple[float, float]]:
    edges = [low, *(edge for gap in gaps for edge in gap), high]
    return [(edges[i], edges[i + 1]) for i in range(0, len(edges), 2)]


def _wall(axis: str, at: float, low: float, high: float, bottom_m: float = 0.0) -> Wall:
    if axis == "x":
        return Wall((at, low), (at, high), bottom_m)
    return Wall((low, at), (high, at), bottom_m)


def _crosses(wall: Wall, origin: FloatArray, target: FloatArray) -> bool:
    """Return whether two segments cross, by the signs of their areas; touching an end does not count."""
    start, end = np.array(wall.start), np.array(wall.end)

    def side(a: FloatArray, b: FloatArray, c: FloatArray) -> float:
        return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))

    return (
        side(start, end, origin) * side(start, end, target) < 0.0
        and side(origin, target, start) * side(origin, target, end) < 0.0
    )

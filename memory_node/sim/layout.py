"""The fixed frame of a home: rooms, walls with their doorways; and the free grid with shortest paths on it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage, sparse
from scipy.sparse.csgraph import dijkstra

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


FREE, OCCUPIED, UNKNOWN = 0, 100, -1


class FreeGrid:
    """An occupancy grid (nav_msgs/OccupancyGrid's values) and the cells where the robot's middle may be.

    occupancy: (rows, columns) int8, row 0 at the lowest y. origin: (x, y) of the lower left corner in the map frame.
    clearance_m: the room that the robot needs. A path costs `tight_cost` more a metre for each metre that lacks to
    `roomy_m`, and is straightened only where there is as much.

    Attributes:
        navigable: (rows, columns) bool, the cells with `clearance_m` around them.
    """

    def __init__(
        self,
        occupancy: NDArray[np.int8],
        resolution_m: float,
        origin: tuple[float, float],
        clearance_m: float = 0.0,
        roomy_m: float = 0.0,
        tight_cost: float = 0.0,
    ) -> None:
        if resolution_m <= 0.0:
            raise InvalidValueError(f"FreeGrid: expected a positive resolution, got {resolution_m}")
        self.occupancy = occupancy
        self.resolution_m = resolution_m
        self.origin = origin
        free = occupancy == FREE
        # A frame of blocked cells keeps what lies beyond the grid from counting as free.
        room = ndimage.distance_transform_edt(np.pad(free, 1))[1:-1, 1:-1] * resolution_m
        self.navigable = free & (room > clearance_m) if clearance_m > 0.0 else free
        if not self.navigable.any():
            raise InvalidValueError("FreeGrid: the robot fits nowhere")
        self._roomy = self.navigable & (room >= roomy_m)
        self._nodes = np.argwhere(self.navigable)
        self._price = 1.0 + tight_cost * np.maximum(roomy_m - room[self.navigable], 0.0)
        self._node_at = np.full(occupancy.shape, -1)
        self._node_at[tuple(self._nodes.T)] = np.arange(len(self._nodes))
        self.points = self._nodes[:, ::-1] * resolution_m + np.array(origin) + 0.5 * resolution_m
        self._graph = self._neighbour_graph()
        self._from = lru_cache(maxsize=128)(self._search_from)

    def nearest_node(self, point: FloatArray) -> int:
        """Return the index in `points` of the navigable cell closest to (x, y)."""
        return int(np.argmin(np.sum((self.points - np.asarray(point)[:2]) ** 2, axis=1)))

    def distances_from(self, point: FloatArray) -> FloatArray:
        """Return the path lengths (n,) in metres to every one of `points`; inf where no path leads."""
        return self._from(self.nearest_node(point))[0]

    def path(self, start: FloatArray, goal: FloatArray) -> FloatArray | None:
        """Return waypoints (n, 2) from start to the navigable cell next to goal, or None when no path leads there."""
        source, target = self.nearest_node(start), self.nearest_node(goal)
        distances, predecessors = self._from(source)
        if not np.isfinite(distances[target]):
            return None
        nodes = [target]
        while nodes[-1] != source:
            nodes.append(int(predecessors[nodes[-1]]))
        return self._shortened(np.vstack([np.asarray(start)[:2], self.points[nodes[::-1]]]))

    def distance(self, start: FloatArray, goal: FloatArray) -> float:
        """Return the length in metres of the path between two points, inf when there is none."""
        return float(self.distances_from(start)[self.nearest_node(goal)])

    def is_clear(self, start: FloatArray, goal: FloatArray) -> bool:
        """Return whether the robot can drive straight between two points, with room about it."""
        length = float(np.linalg.norm(goal - start))
        steps = np.linspace(0.0, 1.0, max(int(length / (0.5 * self.resolution_m)), 1) + 1)
        cells = np.floor((start + steps[:, None] * (goal - start) - self.origin) / self.resolution_m).astype(int)
        inside = ((cells >= 0) & (cells < self.navigable.shape[::-1])).all()
        return bool(inside and self._roomy[cells[:, 1], cells[:, 0]].all())

    def _shortened(self, path: FloatArray) -> FloatArray:
        """Drop waypoints that straight drives make needless."""
        kept, at = [path[0]], 0
        while at < len(path) - 1:
            ahead = at + 1
            while ahead + 1 < len(path) and self.is_clear(path[at], path[ahead + 1]):
                ahead += 1
            kept.append(path[ahead])
            at = ahead
        return np.array(kept)

    def _neighbour_graph(self) -> sparse.csr_matrix:
        rows, columns, lengths = [], [], []
        padded = np.pad(self._node_at, 1, constant_values=-1)
        for dy, dx in ((0, 1), (1, 0), (1, 1), (1, -1)):
            y, x = self._nodes[:, 0] + 1, self._nodes[:, 1] + 1
            neighbour = padded[y + dy, x + dx]
            linked = neighbour >= 0
            if dx and dy:  # no cutting of corners
                linked &= (padded[y, x + dx] >= 0) & (padded[y + dy, x] >= 0)
            rows.append(np.flatnonzero(linked))
            columns.append(neighbour[linked])
            price = 0.5 * (self._price[rows[-1]] + self._price[columns[-1]])
            lengths.append(self.resolution_m * float(np.hypot(dx, dy)) * price)
        count = len(self._nodes)
        data = (np.concatenate(lengths), (np.concatenate(rows), np.concatenate(columns)))
        return sparse.csr_matrix(data, shape=(count, count))

    def _search_from(self, node: int) -> tuple[FloatArray, NDArray[np.int32]]:
        distances, predecessors = dijkstra(self._graph, directed=False, indices=node, return_predecessors=True)
        return distances, predecessors

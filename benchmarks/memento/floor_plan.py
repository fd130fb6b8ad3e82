"""Where the rooms and the furniture of a symbolic home lie, and its map: rooms in a ring, 5 m apart."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from benchmarks.memento.tasks import Home
from memory_node.domain.geometry import OrientedBox, Pose
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

"""Where the places of a text game lie in the graph: the text tells no coordinates, so each place gets a plot."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from memory_node.domain.geometry import Intrinsics, Pose
from memory_node.domain.observation import Frame
from memory_node.scene_graph.free_space import OccupancyMap

# A plot is one area of the scene graph: things of one place lie on it, a metre apart, so that they are told apart.
PLOT_M = 10.0
_CELLS = 8  # of a plot's side
_SLOT_M = 1.0
_SLOTS = 7  # of a plot's side
_MARGIN_CELLS = 2  # around all plots: at the edge of a map the robot cannot stand
_HEIGHT_M = 0.5
_BESIDE_M = 3.0  # from there the robot looks at a place
_PIXELS = 100


@dataclass(frozen=True)
class Site:
    """The plots of a game's places, row by row. places: their names in the order of the plots. in_a_row: so many, so
    that plots stay where they are when more are added; 0 for about as many as there are rows."""

    places: tuple[str, ...]
    in_a_row: int = 0

    @property
    def _columns(self) -> int:
        return self.in_a_row or max(1, math.ceil(math.sqrt(len(self.places))))

    def position(self, place: str) -> tuple[float, float, float]:
        """Return where a place stands, (x, y, z) in map, m."""
        row, column = divmod(self.places.index(place), self._columns)
        return ((column + 0.5) * PLOT_M, (row + 0.5) * PLOT_M, _HEIGHT_M)

    def slot(self, place: str, number: int) -> tuple[float, float, float]:
        """Return where the thing of a number lies at a place, (x, y, z) in map, m; a full plot goes on above itself."""
        x, y, z = self.position(place)
        layer, within = divmod(number, _SLOTS * _SLOTS)
        row, column = divmod(within, _SLOTS)
        middle = (_SLOTS - 1) / 2
        return (x + (column - middle) * _SLOT_M, y + (row - middle) * _SLOT_M, z + (layer + 0.5) * _SLOT_M)

    def place_near(self, x_m: float, y_m: float) -> str:
        """Return the place on whose plot a point lies, or the nearest one; "" where there are none."""
        return min(self.places, key=lambda name: math.dist(self.position(name)[:2], (x_m, y_m)), default="")

    def map(self) -> OccupancyMap:
        """Return the free floor of all plots; every plot with a place becomes one area."""
        rows = -(-len(self.places) // self._columns)
        cells = np.full((rows * _CELLS + 2 * _MARGIN_CELLS, self._columns * _CELLS + 2 * _MARGIN_CELLS), -1, np.int8)
        cell_m = PLOT_M / _CELLS
        for number in range(len(self.places)):
            row, column = divmod(number, self._columns)
            top, left = row * _CELLS + _MARGIN_CELLS, column * _CELLS + _MARGIN_CELLS
            cells[top : top + _CELLS, left : left + _CELLS] = 0
        corner = -_MARGIN_CELLS * cell_m
        return OccupancyMap(cells, cell_m, Pose.planar(corner, corner, 0.0))

    def look_at(self, place: str, stamp_ns: int) -> Frame:
        """Return the look at a place, and at nothing else, that tells memory that it was looked at."""
        x, y, z = self.position(place)
        # z of the camera's frame points along the map's y, x along the map's x.
        map_T_camera = np.eye(4)
        map_T_camera[:3, :3] = [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]]
        map_T_camera[:3, 3] = [x, y - _BESIDE_M, z]
        eye = Intrinsics(_PIXELS, _PIXELS, _PIXELS / 2, _PIXELS / 2, _PIXELS, _PIXELS)
        return Frame(stamp_ns, Pose.from_matrix(map_T_camera), eye, (), complete=False)


def site_of(places: Sequence[str]) -> Site:
    """Return the site of some places, in an order that does not depend on how the text lists them."""
    return Site(tuple(sorted(dict.fromkeys(places))))

"""The occupancy grid of a home from its rooms, walls and furniture."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memory_node.domain.geometry import FloatArray, OrientedBox
from memory_node.sim.grid import FREE, OCCUPIED, UNKNOWN, FreeGrid
from memory_node.sim.layout import WALL_THICKNESS_M, Layout
from memory_node.sim.thing import Thing

RESOLUTION_M = 0.05
MARGIN_M = 0.5
# The robot drives below what hangs higher than this.
CLEARANCE_HEIGHT_M = 1.4


def occupancy_of(layout: Layout, fixtures: Sequence[Thing], robot_radius_m: float) -> FreeGrid:
    """Return the grid of 0.05 m cells: free floor, walls and furniture occupied, outside the rooms unknown."""
    corners = np.vstack([room.corners() for room in layout.rooms])
    origin = corners.min(axis=0) - MARGIN_M
    columns, rows = np.ceil((corners.max(axis=0) + MARGIN_M - origin) / RESOLUTION_M).astype(int)
    occupancy = np.full((rows, columns), UNKNOWN, dtype=np.int8)
    y, x = np.mgrid[0:rows, 0:columns]
    cells = np.stack([x, y], axis=-1).reshape(-1, 2) * RESOLUTION_M + origin + 0.5 * RESOLUTION_M
    flat = occupancy.reshape(-1)
    for room in layout.rooms:
        x0, y0, x1, y1 = room.bounds
        flat[(cells[:, 0] > x0) & (cells[:, 0] < x1) & (cells[:, 1] > y0) & (cells[:, 1] < y1)] = FREE
    for wall in layout.walls:
        if wall.bottom_m == 0.0:
            flat[_in_wall(np.array(wall.start), np.array(wall.end), cells)] = OCCUPIED
    for fixture in fixtures:
        if not fixture.type.looks.mounted and fixture.box.bottom_m < CLEARANCE_HEIGHT_M:
            flat[_covers(fixture.box, cells)] = OCCUPIED
    return FreeGrid(occupancy, RESOLUTION_M, (float(origin[0]), float(origin[1])), robot_radius_m)


def _in_wall(start: FloatArray, end: FloatArray, cells: FloatArray) -> np.ndarray:
    half = 0.5 * WALL_THICKNESS_M
    low, high = np.minimum(start, end) - half, np.maximum(start, end) + half
    return np.asarray(((cells >= low) & (cells <= high)).all(axis=1))


def _covers(box: OrientedBox, cells: FloatArray) -> np.ndarray:
    at_height = np.column_stack([cells, np.full(len(cells), box.center[2])])
    return np.asarray(box.contains(at_height))

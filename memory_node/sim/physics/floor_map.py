"""The floor as the robot's laser and Nav2 see it: an occupancy grid, and paths on it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage
from scipy.spatial import ConvexHull

from memory_node.domain.geometry import FloatArray, Pose
from memory_node.scene_graph.free_space import OccupancyMap
from memory_node.sim.grid import FreeGrid
from memory_node.sim.physics.simulation import Simulation

CELL_M = 0.05
_RIM_M = 0.3
# Things higher than the robot, and things that it can drive over, are no obstacles (m).
_LOW_M, _HIGH_M = 0.03, 1.2
# From this height on the folded arm, or the held thing, may touch it (m).
_ARM_M = 1.0
# Paths closer than this to things (m) cost this much more for each metre.
_ROOMY_M, _TIGHT_COST = 0.55, 20.0


def occupancy(simulation: Simulation, room_m: float = 0.0) -> OccupancyMap:
    """Return the grid of fixed things as they are now: open drawers and doors are obstacles, small things are not.
    room_m: margin around things as high as the folded arm that also counts as occupied.
    """
    x0, y0, x1, y1 = simulation.plan.floor
    shape = (round((y1 - y0 + 2 * _RIM_M) / CELL_M), round((x1 - x0 + 2 * _RIM_M) / CELL_M))
    cells = np.full(shape, -1, np.int8)
    rim = round(_RIM_M / CELL_M)
    cells[rim:-rim, rim:-rim] = 0
    tall = np.zeros(shape, np.int8)
    origin = (x0 - _RIM_M, y0 - _RIM_M)
    model, data = simulation.model, simulation.data
    with simulation.lock:
        for geom in range(model.ngeom):
            item_id = simulation.item_of_body.get(int(model.geom_bodyid[geom]))
            if item_id is None or not simulation.items[item_id].fixed:
                continue
            local = model.geom_aabb[geom]
            signs = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, -1).T
            corners = (local[:3] + signs * local[3:]) @ data.geom_xmat[geom].reshape(3, 3).T + data.geom_xpos[geom]
            if corners[:, 2].max() > _LOW_M and corners[:, 2].min() < _HIGH_M:
                _fill(cells, corners[:, :2], origin)
                if room_m and corners[:, 2].max() > _ARM_M:
                    _fill(tall, corners[:, :2], origin)
    if tall.any():
        away = ndimage.distance_transform_edt(tall == 0) * CELL_M
        cells[(away < room_m) & (cells == 0)] = 100
    return OccupancyMap(cells, CELL_M, Pose.planar(*origin, 0.0))


def _fill(cells: NDArray[np.int8], corners: FloatArray, origin: tuple[float, float]) -> None:
    """Mark the cells under the hull of points (n, 2)."""
    low = np.maximum(np.floor((corners.min(axis=0) - origin) / CELL_M).astype(int), 0)
    high = np.minimum(np.ceil((corners.max(axis=0) - origin) / CELL_M).astype(int), cells.shape[::-1])
    if (high <= low).any():
        return
    middles = np.stack(np.meshgrid(*(np.arange(a, b) for a, b in zip(low, high))), axis=-1) + 0.5
    edges = ConvexHull(corners).equations  # outward normals and offsets
    inside = (middles * CELL_M + origin) @ edges[:, :2].T + edges[:, 2] <= 0.5 * CELL_M
    cells[low[1] : high[1], low[0] : high[0]][inside.all(axis=-1)] = 100


def find_way(grid: OccupancyMap, start: FloatArray, goal: FloatArray, radius_m: float) -> FloatArray | None:
    """Return points (n, 2) from start to goal that keep the radius from what is occupied, short and roomy; None: none.

    A start that is too close to something is left by the nearest free cell.
    """
    x, y, _ = grid.map_T_origin.position
    free = FreeGrid(grid.cells, grid.resolution_m, (float(x), float(y)), radius_m, _ROOMY_M, _TIGHT_COST)
    (row,), (column,) = grid.to_cell(np.array([goal[:2]]))
    inside = 0 <= row < grid.cells.shape[0] and 0 <= column < grid.cells.shape[1]
    way = free.path(start, goal) if inside and free.navigable[row, column] else None
    return None if way is None else np.vstack([way[:-1], goal[:2]])

"""The floor as the robot's laser and Nav2 see it: an occupancy grid, and paths on it."""

from __future__ import annotations

import heapq

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from memory_node.domain.geometry import FloatArray, Pose
from memory_node.scene_graph.free_space import OccupancyMap
from memory_node.sim.physics.simulation import Simulation

CELL_M = 0.05
_RIM_M = 0.3
# Things higher than the robot, and things that it can drive over, are no obstacles (m).
_LOW_M, _HIGH_M = 0.03, 1.2
# From this height on the folded arm, or the held thing, may touch it (m).
_ARM_M = 1.0
# Paths closer than this to things (m) cost this much more for each metre.
_ROOMY_M, _TIGHT_COST = 0.55, 20.0
_NEIGHBOURS = tuple((dy, dx) for dy in (-1, 0, 1) for dx in (-1, 0, 1) if (dy, dx) != (0, 0))


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
    low = np.floor((corners.min(axis=0) - origin) / CELL_M).astype(int)
    high = np.ceil((corners.max(axis=0) - origin) / CELL_M).astype(int)
    low, high = np.maximum(low, 0), np.minimum(high, cells.shape[::-1])
    if (high <= low).any():
        return
    hull = _hull(corners)
    xs = origin[0] + (np.arange(low[0], high[0]) + 0.5) * CELL_M
    ys = origin[1] + (np.arange(low[1], high[1]) + 0.5) * CELL_M
    x, y = np.meshgrid(xs, ys)
    inside = np.ones(x.shape, bool)
    for (ax, ay), (bx, by) in zip(hull, np.roll(hull, -1, axis=0)):
        edge = np.hypot(bx - ax, by - ay)
        inside &= (bx - ax) * (y - ay) - (by - ay) * (x - ax) >= -0.5 * CELL_M * edge
    cells[low[1] : high[1], low[0] : high[0]][inside] = 100


def _hull(points: FloatArray) -> FloatArray:
    """Return the convex hull (n, 2) of points, counter-clockwise (Andrew 1979)."""
    ordered = sorted({(round(float(x), 6), round(float(y), 6)) for x, y in points})
    halves = []
    for run in (ordered, ordered[::-1]):
        half: list[tuple[float, float]] = []
        for point in run:
            while len(half) > 1 and _turn(half[-2], half[-1], point) <= 0.0:
                half.pop()
            half.append(point)
        halves.append(half[:-1])
    return np.array(halves[0] + halves[1])


def _turn(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def find_way(grid: OccupancyMap, start: FloatArray, goal: FloatArray, radius_m: float) -> FloatArray | None:
    """Return points (n, 2) from start to goal that keep the radius from what is occupied, short and roomy; None: none.

    A start that is too close to something is left by the nearest free cell.
    """
    room = ndimage.distance_transform_edt(np.pad(grid.free(), 1))[1:-1, 1:-1] * grid.resolution_m
    open_cells = room >= radius_m
    rows, columns = grid.to_cell(np.array([start[:2], goal[:2]]))
    if not _inside(open_cells, int(rows[1]), int(columns[1])) or not open_cells[rows[1], columns[1]]:
        return None
    begin = _nearest_open(open_cells, int(rows[0]), int(columns[0]))
    cells = _search(open_cells, room, begin, (int(rows[1]), int(columns[1])))
    if cells is None:
        return None
    path = np.array(cells, dtype=np.float64) + 0.5
    points = grid.to_map(path[:, 0], path[:, 1])
    return _straightened(np.vstack([start[:2], points[1:-1], goal[:2]]), grid, room >= _ROOMY_M)


def _search(
    free: NDArray[np.bool_], room: FloatArray, start: tuple[int, int], goal: tuple[int, int]
) -> list[tuple[int, int]] | None:
    """Return the cells of the cheapest way (A*); cells close to obstacles cost more."""
    queue = [(0.0, start)]
    cost, before = {start: 0.0}, {start: start}
    while queue:
        _, here = heapq.heappop(queue)
        if here == goal:
            way = [goal]
            while way[-1] != start:
                way.append(before[way[-1]])
            return way[::-1]
        for dy, dx in _NEIGHBOURS:
            there = (here[0] + dy, here[1] + dx)
            if not _inside(free, *there) or not free[there]:
                continue
            price = cost[here] + float(np.hypot(dy, dx)) * (1.0 + _TIGHT_COST * max(_ROOMY_M - float(room[there]), 0.0))
            if price < cost.get(there, np.inf):
                cost[there], before[there] = price, here
                heapq.heappush(queue, (price + float(np.hypot(there[0] - goal[0], there[1] - goal[1])), there))
    return None


def _nearest_open(free: NDArray[np.bool_], row: int, column: int) -> tuple[int, int]:
    rows, columns = np.nonzero(free)
    index = int(np.argmin((rows - row) ** 2 + (columns - column) ** 2))
    return int(rows[index]), int(columns[index])


def _inside(cells: NDArray[np.bool_], row: int, column: int) -> bool:
    return 0 <= row < cells.shape[0] and 0 <= column < cells.shape[1]


def _straightened(points: FloatArray, grid: OccupancyMap, free: NDArray[np.bool_]) -> FloatArray:
    """Return the way without points that a straight line through `free` cells past them makes needless."""
    kept, index = [points[0]], 0
    while index < len(points) - 1:
        last = len(points) - 1
        while last > index + 1 and not _is_clear(points[index], points[last], grid, free):
            last -= 1
        kept.append(points[last])
        index = last
    return np.array(kept)


def _is_clear(one: FloatArray, other: FloatArray, grid: OccupancyMap, free: NDArray[np.bool_]) -> bool:
    count = max(int(np.linalg.norm(other - one) / (0.5 * CELL_M)), 1)
    rows, columns = grid.to_cell(one + np.linspace(0.0, 1.0, count + 1)[:, None] * (other - one))
    return bool(free[rows, columns].all())

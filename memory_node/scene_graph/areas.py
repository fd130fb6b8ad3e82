"""Divides the free space of a floor into rooms and areas; which area a place belongs to, and which areas touch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage
from scipy.sparse import csgraph

from memory_node.domain.geometry import Pose
from memory_node.scene_graph.free_space import OccupancyMap, cell_graph

LabelArray = NDArray[np.intp]


def split_into_areas(grid: OccupancyMap, open_cells: NDArray[np.bool_], spacing_m: float) -> LabelArray:
    """Return the area number (h, w) of each reachable cell, -1 elsewhere.

    The map is cut along a square lattice of `spacing_m` that is fixed to the map frame, so the parts stay the same as
    the map grows; what a wall divides becomes two areas, and a sliver joins the neighbour that it shares the longest
    border with.
    """
    rows, columns = np.indices(open_cells.shape)
    at = grid.to_map(rows.ravel() + 0.5, columns.ravel() + 0.5)
    tile = np.floor(at / spacing_m).astype(np.int64)
    tile -= tile.min(axis=0)
    number = (tile[:, 0] * (tile[:, 1].max() + 1) + tile[:, 1]).reshape(open_cells.shape)
    graph, _ = cell_graph(open_cells, grid.resolution_m, number)
    labels = np.full(open_cells.shape, -1, np.intp)
    if not graph.shape[0]:
        return labels
    _, part = csgraph.connected_components(graph, directed=False)
    labels[open_cells] = part
    return _join_slivers(labels, 0.35 * (spacing_m / grid.resolution_m) ** 2)


def _join_slivers(labels: LabelArray, least_cells: float) -> LabelArray:
    """Merge parts below `least_cells`, smallest first, into the neighbour with the longest common border."""
    labels = labels.copy()
    for _ in range(int(labels.max()) + 1):
        sizes = np.bincount(labels[labels >= 0])
        borders = border_lengths(labels)
        small = [part for part in np.argsort(sizes, kind="stable").tolist() if 0 < sizes[part] < least_cells]
        merged = False
        taken: set[int] = set()
        for part in small:
            around = [
                (length, -other, other)
                for (a, b), length in borders.items()
                for other in (a, b)
                if part in (a, b) and other != part
            ]
            if not around:
                continue
            target = max(around)[2]
            if part in taken or target in taken:
                continue
            labels[labels == part] = target
            taken |= {part, target}
            merged = True
        if not merged:
            break
    return _numbered_anew(labels)


def _numbered_anew(labels: LabelArray) -> LabelArray:
    """Return the parts with numbers that leave none out."""
    kept = np.unique(labels[labels >= 0])
    compact = np.full(int(labels.max()) + 2, -1, np.intp)
    compact[kept] = np.arange(len(kept))
    return compact[labels]


def border_lengths(labels: LabelArray) -> dict[tuple[int, int], int]:
    """Return how many neighbouring pairs of cells (4-connected) each two touching parts share, smaller number first."""
    lengths: dict[tuple[int, int], int] = {}
    for one, other in ((labels[:-1], labels[1:]), (labels[:, :-1], labels[:, 1:])):
        touch = (one >= 0) & (other >= 0) & (one != other)
        pairs = np.sort(np.stack([one[touch], other[touch]], axis=1), axis=1)
        listed, counts = np.unique(pairs, axis=0, return_counts=True)
        for (a, b), count in zip(listed.tolist(), counts.tolist()):
            lengths[a, b] = lengths.get((a, b), 0) + count
    return lengths


def area_middles(grid: OccupancyMap, labels: LabelArray) -> NDArray[np.float64]:
    """Return for each area the map position (n, 2) of the reachable cell of it that is nearest to its centre of
    mass."""
    rows, columns = np.nonzero(labels >= 0)
    number = labels[rows, columns]
    count = int(number.max()) + 1 if number.size else 0
    size = np.bincount(number, minlength=count)
    mean = np.stack([np.bincount(number, rows, count), np.bincount(number, columns, count)], axis=1) / size[:, None]
    off = (rows - mean[number, 0]) ** 2 + (columns - mean[number, 1]) ** 2
    order = np.lexsort((off, number))
    first = order[np.searchsorted(number[order], np.arange(count))]
    return grid.to_map(rows[first] + 0.5, columns[first] + 0.5)


def path_lengths(
    grid: OccupancyMap, labels: LabelArray, positions: NDArray[np.float64]
) -> dict[tuple[int, int], float]:
    """Return the length in metres of the shortest path between the positions (n, 2) of areas that touch."""
    graph, node = cell_graph(labels >= 0, grid.resolution_m)
    rows, columns = grid.to_cell(positions)
    at = node[np.clip(rows, 0, node.shape[0] - 1), np.clip(columns, 0, node.shape[1] - 1)]
    touching = sorted(border_lengths(labels))
    lengths: dict[tuple[int, int], float] = {}
    by_start: dict[int, list[int]] = {}
    for a, b in touching:
        by_start.setdefault(a, []).append(b)
    for a, targets in by_start.items():
        if at[a] < 0:
            continue
        straight = max(float(np.linalg.norm(positions[a] - positions[b])) for b in targets)
        distance = csgraph.dijkstra(graph, directed=False, indices=at[a], limit=3.0 * straight + 2.0)
        for b in targets:
            if at[b] >= 0 and np.isfinite(distance[at[b]]):
                lengths[a, b] = float(distance[at[b]])
    return lengths


def split_into_rooms(free: NDArray[np.bool_], resolution_m: float, doorway_m: float, min_room_m2: float) -> LabelArray:
    """Return the room number (h, w) of each free cell, -1 elsewhere.

    Free space is shrunk until openings up to `doorway_m` close; what remains in one piece is a room's core, and every
    free cell joins the core that it reaches first. Parts below `min_room_m2`, and parts that meet along more than a
    doorway, are joined.
    """
    clearance = ndimage.distance_transform_edt(np.pad(free, 1))[1:-1, 1:-1] * resolution_m
    cores, count = ndimage.label(clearance > 0.5 * doorway_m)
    if count == 0:
        parts, _ = ndimage.label(free)
        return np.asarray(parts - 1, dtype=np.intp)
    labels = _grow(cores.astype(np.intp) - 1, free)
    return _join(labels, resolution_m, doorway_m, min_room_m2)


def _grow(labels: LabelArray, free: NDArray[np.bool_]) -> LabelArray:
    """Let all cores grow by one cell at a time through free space until nothing more is reached."""
    labels = labels.copy()
    for _ in range(sum(labels.shape)):
        padded = np.pad(labels, 1, constant_values=-1)
        around = np.max([padded[:-2, 1:-1], padded[2:, 1:-1], padded[1:-1, :-2], padded[1:-1, 2:]], axis=0)
        reached = free & (labels < 0) & (around >= 0)
        if not reached.any():
            break
        labels[reached] = around[reached]
    left, _ = ndimage.label(free & (labels < 0))
    return np.asarray(np.where(left > 0, left + labels.max(), labels), dtype=np.intp)


def _join(labels: LabelArray, resolution_m: float, doorway_m: float, min_room_m2: float) -> LabelArray:
    for _ in range(int(labels.max()) + 1):
        sizes = np.bincount(labels[labels >= 0]) * resolution_m**2
        choice: tuple[float, int, int] | None = None
        for (a, b), length in sorted(border_lengths(labels).items()):
            wide = length * resolution_m > 1.3 * doorway_m
            small = min(sizes[a], sizes[b]) < min_room_m2
            if (wide or small) and (choice is None or length > choice[0]):
                choice = (length, a, b)
        if choice is None:
            break
        _, a, b = choice
        labels = np.where(labels == max(a, b), min(a, b), labels)
    return _numbered_anew(labels)


@dataclass(frozen=True, eq=False)
class Ground:
    """map: the occupancy grid as it came. grid: the coarser one whose cells (h, w) hold the number of their area in
    `area_ids`, -1 for none; nearest: that of the nearest area, None where there are no areas."""

    map: OccupancyMap
    grid: OccupancyMap
    area_of_cell: NDArray[np.intp]
    area_ids: Sequence[str]
    nearest: NDArray[np.intp] | None

    @classmethod
    def of(
        cls, occupancy: OccupancyMap, grid: OccupancyMap, area_of_cell: NDArray[np.intp], area_ids: Sequence[str]
    ) -> Ground:
        """Return the ground with these areas."""
        nearest = None
        if (area_of_cell >= 0).any():
            _, at = ndimage.distance_transform_edt(area_of_cell < 0, return_indices=True)
            nearest = area_of_cell[at[0], at[1]]
        return cls(occupancy, grid, area_of_cell, area_ids, nearest)

    def area_at(self, at: NDArray[np.float64], seen_from: tuple[float, float] | None) -> str:
        """Return the id of the area that a place (x, y) belongs to, empty off the map and where there are no areas."""
        if self.nearest is None:
            return ""
        if seen_from is not None:
            end = np.array(seen_from)
            steps = max(2, int(np.linalg.norm(end - at) / self.grid.resolution_m) + 1)
            found = self._numbers(self.area_of_cell, at + np.linspace(0.0, 1.0, steps)[:, None] * (end - at))
            hits = found[found >= 0]
            if hits.size:
                return self.area_ids[int(hits[0])]
        nearest = int(self._numbers(self.nearest, at[None])[0])
        return self.area_ids[nearest] if nearest >= 0 else ""

    def is_elsewhere(self, place: NDArray[np.float64]) -> bool:
        """Return whether a place (x, y) is free, but not in a part of the map that areas were laid out in."""
        free = self.grid.free()
        if self._numbers(free.astype(np.intp), place[None])[0] != 1:
            return False
        parts, _ = ndimage.label(free)
        numbers = self._numbers(parts, place[None])
        return not bool((self.area_of_cell[parts == numbers[0]] >= 0).any())

    def moved_by(self, transform: Pose) -> Ground:
        """Return the ground in another frame: `transform` is new_map_T_old_map."""
        moved = (replace(grid, map_T_origin=transform @ grid.map_T_origin) for grid in (self.map, self.grid))
        return replace(self, map=next(moved), grid=next(moved))

    def _numbers(self, cells: NDArray[np.intp], points: NDArray[np.float64]) -> NDArray[np.intp]:
        rows, columns = self.grid.to_cell(points)
        inside = (rows >= 0) & (columns >= 0) & (rows < cells.shape[0]) & (columns < cells.shape[1])
        found = np.full(len(points), -1, np.intp)
        found[inside] = cells[rows[inside], columns[inside]]
        return found

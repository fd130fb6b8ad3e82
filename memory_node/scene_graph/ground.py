"""The map of one floor, cut into areas and rooms: which area a place on it belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from memory_node.domain.geometry import Pose
from memory_node.scene_graph.free_space import OccupancyMap


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
        if not self._is_free(place):
            return False
        parts, _ = ndimage.label(self.grid.free())
        numbers = self._numbers(parts, place[None])
        return not bool((self.area_of_cell[parts == numbers[0]] >= 0).any())

    def _is_free(self, place: NDArray[np.float64]) -> bool:
        return bool(self._numbers(self.grid.free().astype(np.intp), place[None])[0] == 1)

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

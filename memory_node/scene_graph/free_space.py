"""The reachable part of an occupancy grid as a graph of cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.geometry import Pose

if TYPE_CHECKING:
    from scipy import sparse  # every node converts maps, and only memory and the home compute with them

_FREE_BELOW = 50  # nav_msgs/OccupancyGrid: 0 free, 100 occupied, -1 unknown


@dataclass(frozen=True, eq=False)
class OccupancyMap:
    """nav_msgs/OccupancyGrid without ROS: cells (height, width) int8, row 0 at the origin; map_T_origin: corner of
    cell (0, 0)."""

    cells: NDArray[np.int8]
    resolution_m: float
    map_T_origin: Pose

    def __post_init__(self) -> None:
        if self.cells.ndim != 2 or self.cells.size == 0 or not self.resolution_m > 0.0:
            raise InvalidValueError(
                f"OccupancyMap: expected cells (h, w), got {self.cells.shape} at {self.resolution_m} m"
            )

    def to_map(self, rows: NDArray[np.floating], columns: NDArray[np.floating]) -> NDArray[np.float64]:
        """Return map positions (n, 2) of cell coordinates; whole numbers are corners, halves are centres."""
        local = np.stack([columns, rows, np.zeros_like(rows)], axis=-1) * self.resolution_m
        return np.asarray(self.map_T_origin.apply(local)[..., :2])

    def to_cell(self, points: NDArray[np.floating]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return row and column of the cells that map positions (n, 2) fall in; they may lie outside the grid."""
        flat = np.column_stack([points, np.full(len(points), self.map_T_origin.position[2])])
        local = self.map_T_origin.inverse().apply(flat) / self.resolution_m
        return np.floor(local[:, 1]).astype(np.intp), np.floor(local[:, 0]).astype(np.intp)

    def free(self) -> NDArray[np.bool_]:
        """Return which cells are known to be free."""
        return np.asarray((self.cells >= 0) & (self.cells < _FREE_BELOW))

    def coarser(self, cell_m: float) -> OccupancyMap:
        """Return the map with cells of about `cell_m`: occupied where any part is, else unknown where any part is."""
        factor = max(1, round(cell_m / self.resolution_m))
        if factor == 1:
            return self
        height, width = (-(-side // factor) for side in self.cells.shape)
        padded = np.full((height * factor, width * factor), -1, np.int8)
        padded[: self.cells.shape[0], : self.cells.shape[1]] = self.cells
        blocks = padded.reshape(height, factor, width, factor)
        known = np.where(blocks < 0, -1, blocks)
        return OccupancyMap(
            np.where(
                (known >= _FREE_BELOW).any(axis=(1, 3)), 100, np.where((known < 0).any(axis=(1, 3)), -1, 0)
            ).astype(np.int8),
            self.resolution_m * factor,
            self.map_T_origin,
        )


def reachable(
    free: NDArray[np.bool_], resolution_m: float, robot_radius_m: float, seeds: list[tuple[int, int]]
) -> NDArray[np.bool_]:
    """Return the cells (h, w) where a round robot can stand, connected to one of `seeds` (row, column), else the
    largest part."""
    from scipy import ndimage

    clear = ndimage.distance_transform_edt(np.pad(free, 1))[1:-1, 1:-1] * resolution_m > robot_radius_m
    parts, count = ndimage.label(clear, structure=np.ones((3, 3)))
    if count == 0:
        return np.zeros_like(clear)
    sizes = np.bincount(parts.ravel())[1:]
    wanted = {
        int(parts[row, column]) for row, column in seeds if 0 <= row < free.shape[0] and 0 <= column < free.shape[1]
    }
    wanted.discard(0)
    return np.asarray(np.isin(parts, list(wanted or {int(np.argmax(sizes)) + 1})))


def cell_graph(
    open_cells: NDArray[np.bool_], resolution_m: float, same: NDArray[np.integer] | None = None
) -> tuple[sparse.csr_matrix, NDArray[np.intp]]:
    """Return the graph of neighbouring open cells (8-connected, weights in metres) and the node of each cell (-1:
    none).

    `same` (h, w), if given, keeps only edges between cells that hold the same number.
    """
    from scipy import sparse

    node = np.full(open_cells.shape, -1, np.intp)
    node[open_cells] = np.arange(np.count_nonzero(open_cells))
    starts, ends, lengths = [], [], []
    height, width = open_cells.shape
    for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
        one = node[: height - down, max(0, -right) : width - max(0, right)]
        other = node[down:, max(0, right) : width - max(0, -right)]
        joined = (one >= 0) & (other >= 0)
        if same is not None:
            joined &= (
                same[: height - down, max(0, -right) : width - max(0, right)]
                == same[down:, max(0, right) : width - max(0, -right)]
            )
        starts.append(one[joined])
        ends.append(other[joined])
        lengths.append(np.full(np.count_nonzero(joined), resolution_m * np.hypot(down, right)))
    count = int(node.max()) + 1
    graph = sparse.coo_matrix(
        (np.concatenate(lengths), (np.concatenate(starts), np.concatenate(ends))), shape=(count, count)
    )
    return graph.tocsr(), node

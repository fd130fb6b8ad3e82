"""Finds the objects of a neighbourhood without looking at the others: a hash grid over the ground plane."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.intp]
Cell = tuple[int, int]


class GridIndex:
    """Rows by the cell of their centre (x, y); all operations cost as much as what they touch, not as the whole."""

    def __init__(self, cell_m: float = 1.0) -> None:
        self._cell_m = cell_m
        self._rows_in: dict[Cell, set[int]] = {}
        self._cell_of: dict[int, Cell] = {}

    def __contains__(self, row: int) -> bool:
        return row in self._cell_of

    def put(self, row: int, x_m: float, y_m: float) -> None:
        """Enter a row, or move it."""
        cell = (math.floor(x_m / self._cell_m), math.floor(y_m / self._cell_m))
        old = self._cell_of.get(row)
        if old == cell:
            return
        if old is not None:
            self._leave(row, old)
        self._rows_in.setdefault(cell, set()).add(row)
        self._cell_of[row] = cell

    def take(self, row: int) -> None:
        """Remove a row; one that is not there is left alone."""
        cell = self._cell_of.pop(row, None)
        if cell is not None:
            self._leave(row, cell)

    def _leave(self, row: int, cell: Cell) -> None:
        rows = self._rows_in[cell]
        rows.discard(row)
        if not rows:
            del self._rows_in[cell]

    def within(self, low: tuple[float, float], high: tuple[float, float]) -> Rows:
        """Return the rows of all cells that touch the rectangle, ascending (so that replays agree)."""
        (x_0, y_0), (x_1, y_1) = ([math.floor(side / self._cell_m) for side in corner] for corner in (low, high))
        found: list[int] = []
        if (x_1 - x_0 + 1) * (y_1 - y_0 + 1) > len(self._rows_in):
            for (x, y), rows in self._rows_in.items():
                if x_0 <= x <= x_1 and y_0 <= y <= y_1:
                    found.extend(rows)
        else:
            for x in range(x_0, x_1 + 1):
                for y in range(y_0, y_1 + 1):
                    found.extend(self._rows_in.get((x, y), ()))
        return np.sort(np.array(found, dtype=np.intp))

"""Shortest paths keep to the free floor and know when there is none."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from memory_node.domain.errors import InvalidValueError
from memory_node.sim.layout import FREE, OCCUPIED, FreeGrid


def grid_with_wall(gap: bool) -> FreeGrid:
    occupancy = np.full((40, 60), FREE, dtype=np.int8)
    occupancy[:, 30] = OCCUPIED
    if gap:
        occupancy[30:36, 30] = FREE
    return FreeGrid(occupancy, 0.1, (0.0, 0.0))


def test_path_goes_through_the_gap() -> None:
    grid = grid_with_wall(gap=True)
    start, goal = np.array([1.05, 0.55]), np.array([5.05, 0.55])
    path = grid.path(start, goal)
    np.testing.assert_allclose(path[0], start)
    np.testing.assert_allclose(path[-1], goal, atol=0.05)
    legs = np.linalg.norm(np.diff(path, axis=0), axis=1)
    assert legs.sum() >= 2.0 * np.hypot(2.0, 2.4)
    assert legs.sum() <= grid.distance(start, goal) + 1e-6
    for here, there in itertools.pairwise(path):
        assert grid.is_clear(here, there)


def test_no_path_is_none() -> None:
    grid = grid_with_wall(gap=False)
    assert grid.path(np.array([1.0, 1.0]), np.array([5.0, 1.0])) is None
    assert grid.distance(np.array([1.0, 1.0]), np.array([5.0, 1.0])) == np.inf


def test_diagonal_drive_is_straight() -> None:
    grid = FreeGrid(np.full((50, 50), FREE, dtype=np.int8), 0.1, (-1.0, -1.0))
    path = grid.path(np.array([-0.55, -0.55]), np.array([2.45, 2.45]))
    assert path is not None
    assert np.linalg.norm(np.diff(path, axis=0), axis=1).sum() == pytest.approx(3.0 * np.sqrt(2.0), abs=0.01)


def test_clearance_keeps_the_robot_off_walls_and_the_edge() -> None:
    occupancy = np.full((40, 40), FREE, dtype=np.int8)
    occupancy[:, 20] = OCCUPIED
    grid = FreeGrid(occupancy, 0.1, (0.0, 0.0), clearance_m=0.3)
    assert np.abs(grid.points[:, 0] - 2.05).min() > 0.29
    assert grid.points.min() > 0.2


def test_robot_that_fits_nowhere_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="fits nowhere"):
        FreeGrid(np.full((5, 5), FREE, dtype=np.int8), 0.1, (0.0, 0.0), clearance_m=2.0)

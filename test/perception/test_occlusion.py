"""A flat thing that lies in the open is whole; what stands on a table's far edge hides a part of the table."""

import numpy as np
import pytest
from numpy.typing import NDArray

from memory_node.perception.config import PerceptionConfig
from memory_node.perception.pipeline import partly_hidden

TABLE, THING = 1, 2
FOCAL_PX, ROW_0 = 316.0, 100


def table_below(camera_m: float) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Return labels and depth (240, 320) of a table that ends at 1.2 m, `camera_m` below a level camera."""
    below = np.arange(240, dtype=np.float64)[:, None] + ROW_0
    depth = np.broadcast_to(camera_m * FOCAL_PX / below, (240, 320)).astype(np.float32)
    on_table = depth <= 1.2
    return np.where(on_table, TABLE, 0).astype(np.int32), np.where(on_table, depth, 4.0).astype(np.float32)


def lay(labels: NDArray[np.int32], depth: NDArray[np.float32], high_m: float, camera_m: float) -> None:
    """Lay a thing of a height on the table, from 0.7 to 0.85 m."""
    below = np.arange(240, dtype=np.float64)[:, None] + ROW_0
    top = np.broadcast_to((camera_m - high_m) * FOCAL_PX / below, depth.shape)
    there = (top >= 0.7) & (top <= 0.85)
    there[:, :120] = there[:, 160:] = False
    labels[there], depth[there] = THING, top[there]


@pytest.mark.parametrize("high_m", [0.005, 0.014, 0.03])
def test_flat_thing_on_a_table_is_not_hidden_by_the_table_behind_it(high_m: float) -> None:
    labels, depth = table_below(0.45)
    lay(labels, depth, high_m, 0.45)
    assert THING not in partly_hidden(labels, depth, PerceptionConfig())


def test_thing_behind_something_nearer_is_hidden() -> None:
    labels, depth = table_below(0.45)
    lay(labels, depth, 0.014, 0.45)
    rows, columns = np.nonzero(labels == THING)
    before = (slice((rows.min() + rows.max()) // 2, 240), slice(columns.min(), columns.max() + 1))
    labels[before], depth[before] = 3, 0.5
    assert THING in partly_hidden(labels, depth, PerceptionConfig())


def test_what_stands_along_the_far_edge_hides_where_the_table_ends() -> None:
    labels, depth = table_below(0.45)
    first = int(np.argmax((labels == TABLE).any(axis=1)))
    labels[: first + 4], depth[: first + 4] = THING, depth[first + 4, 0]
    assert TABLE in partly_hidden(labels, depth, PerceptionConfig())

"""What stands on or in what, from the boxes of a neighbourhood."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memory_node.scene_graph.object_table import Rows
from memory_node.scene_graph.state import ROBOT_ID, GraphState, is_class


def update_supports(state: GraphState, rows: Rows, neighbours: Rows) -> None:
    """Find for each of `rows` the object of `neighbours` that it stands on or in; held objects stay held."""
    table = state.table
    if not rows.size or not neighbours.size:
        return
    other = rows[:, None] != neighbours[None]
    _reach_down(state, rows, neighbours, _over_footprint(state, rows, neighbours, 0.15) & other)
    above = _over_footprint(state, rows, neighbours, 0.02) & other
    bottom = table.center[rows, 2] - 0.5 * table.size[rows, 2]
    height = table.center[neighbours, 2] + 0.5 * table.size[neighbours, 2]
    larger = table.size[neighbours, :2].prod(axis=1)[None] > 0.8 * table.size[rows, :2].prod(axis=1)[:, None]
    gap = np.abs(bottom[:, None] - height[None])
    on = above & larger & (gap < state.config.on_gap_m)
    top = table.center[rows, 2] + 0.5 * table.size[rows, 2]
    floor = table.center[neighbours, 2] - 0.5 * table.size[neighbours, 2]
    volume = table.size[rows].prod(axis=1)[:, None] < 0.5 * table.size[neighbours].prod(axis=1)[None]
    within = above & volume & (bottom[:, None] > floor[None] - 0.05) & (top[:, None] < height[None] + 0.05)
    for i, row in enumerate(rows.tolist()):
        record = table.record(row)
        if record.support_id == ROBOT_ID:
            continue
        if on[i].any():
            best = int(neighbours[np.argmin(np.where(on[i], gap[i], np.inf))])
            state.stand_on(row, table.record(best).id, False)
        elif within[i].any():
            sizes = table.size[neighbours].prod(axis=1)
            best = int(neighbours[np.argmin(np.where(within[i], sizes, np.inf))])
            seat = is_class(table.record(best), state.config.surface_classes)
            state.stand_on(row, table.record(best).id, not seat)
        elif not table.sheltered[row]:
            state.stand_on(row, "", False)


def _reach_down(state: GraphState, rows: Rows, neighbours: Rows, above: NDArray[np.bool_]) -> None:
    """Let objects whose foot was never seen reach down to what is below them: things stand on something.

    Behind other things often only the upper part shows, however long one looks.
    """
    table, config = state.table, state.config
    unseen = table.face_variance[rows, 0, 2] > 0.5 * config.unseen_face_sigma_m**2
    unseen |= table.mostly_truncated(rows)
    if not unseen.any():
        return
    bottom = table.center[rows, 2] - 0.5 * table.size[rows, 2]
    height = table.center[neighbours, 2] + 0.5 * table.size[neighbours, 2]
    wide = table.size[neighbours, :2].prod(axis=1)[None] > 2.0 * table.size[rows, :2].prod(axis=1)[:, None]
    gap = np.where(above & wide, bottom[:, None] - height[None], np.inf)
    gap[gap < 0.0] = np.inf
    fall = gap.min(axis=1)
    falls = unseen & (fall < config.hidden_foot_m)
    table.size[rows[falls], 2] += fall[falls]
    table.center[rows[falls], 2] -= 0.5 * fall[falls]


def _over_footprint(state: GraphState, rows: Rows, neighbours: Rows, margin_m: float) -> NDArray[np.bool_]:
    """Return (rows, neighbours): the centre of the one is above or below the footprint of the other."""
    table = state.table
    shift = table.center[rows, None, :2] - table.center[None, neighbours, :2]
    yaw = table.yaw[neighbours].astype(np.float64)
    cos, sin = np.cos(yaw), np.sin(yaw)
    along = cos * shift[..., 0] + sin * shift[..., 1]
    across = cos * shift[..., 1] - sin * shift[..., 0]
    half = 0.5 * table.size[neighbours, :2] + margin_m
    return np.asarray((np.abs(along) < half[:, 0]) & (np.abs(across) < half[:, 1]))

"""What stands on or in what, from the boxes of a neighbourhood."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memory_node.catalogue.object_kind import Property
from memory_node.scene_graph.object_table import Rows
from memory_node.scene_graph.state import ROBOT_ID, GraphState

# What carries several things is at least as large as a stool.
_FURNITURE_M2 = 0.15


def update_supports(state: GraphState, rows: Rows, neighbours: Rows) -> None:
    """Find for each of `rows` the object of `neighbours` that it stands on or in; held objects stay held."""
    table = state.table
    if not rows.size or not neighbours.size:
        return
    other = rows[:, None] != neighbours[None]
    _reach_down(state, rows, neighbours, _over_footprint(state, rows, neighbours, 0.15) & other)
    _reach_out(state, rows, neighbours, other)
    above = _over_footprint(state, rows, neighbours, 0.02) & other
    between_walls = _over_footprint(state, rows, neighbours, 0.0) & other
    bottom = table.center[rows, 2] - 0.5 * table.size[rows, 2]
    height = table.center[neighbours, 2] + 0.5 * table.size[neighbours, 2]
    larger = table.size[neighbours, :2].prod(axis=1)[None] > 0.8 * table.size[rows, :2].prod(axis=1)[:, None]
    gap = np.abs(bottom[:, None] - height[None])
    on = above & larger & (gap < state.config.on_gap_m)
    top = table.center[rows, 2] + 0.5 * table.size[rows, 2]
    floor = table.center[neighbours, 2] - 0.5 * table.size[neighbours, 2]
    volume = table.size[rows].prod(axis=1)[:, None] < 0.5 * table.size[neighbours].prod(axis=1)[None]
    within = between_walls & volume & (bottom[:, None] > floor[None] - 0.05) & (top[:, None] < height[None] + 0.05)
    volumes = table.size[neighbours].prod(axis=1)
    for i, row in enumerate(rows.tolist()):
        record = table.record(row)
        if record.support_id == ROBOT_ID:
            continue
        surface = int(np.argmin(np.where(on[i], gap[i], np.inf))) if on[i].any() else -1
        container = int(np.argmin(np.where(within[i], volumes, np.inf))) if within[i].any() else -1
        seat = container >= 0 and _is_surface(state, int(neighbours[container]))
        # In a bowl on a table, a thing's foot is level with the table's top as well.
        shared = surface >= 0 and abs(floor[container] - height[surface]) < state.config.on_gap_m
        if container >= 0 and (surface < 0 or (shared and not seat)):
            state.stand_on(row, table.record(int(neighbours[container])).id, not seat)
        elif surface >= 0:
            state.stand_on(row, table.record(int(neighbours[surface])).id, False)
        elif not table.sheltered[row]:
            state.stand_on(row, "", False)


def _is_surface(state: GraphState, row: int) -> bool:
    """Return whether things lie on an object, not in it, also where its box encloses them."""
    return state.catalogue[state.table.record(row).best_class].can(Property.SURFACE)


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


def _reach_out(state: GraphState, rows: Rows, neighbours: Rows, other: NDArray[np.bool_]) -> None:
    """Let supports that were never seen whole reach under what stands at their height beside them.

    The far part of a table hides behind the things on it; that they stand there tells that it goes on.
    """
    table, config = state.table, state.config
    partial = table.mostly_truncated(neighbours)
    if not partial.any():
        return
    bottom = table.center[rows, 2] - 0.5 * table.size[rows, 2]
    height = table.center[neighbours, 2] + 0.5 * table.size[neighbours, 2]
    level = np.abs(bottom[:, None] - height[None]) < 0.5 * config.on_gap_m
    area = table.size[neighbours, :2].prod(axis=1)
    large = (area > _FURNITURE_M2)[None] & (area[None] > 4.0 * table.size[rows, :2].prod(axis=1)[:, None])
    along, across = _on_axes(state, rows, neighbours)
    half = 0.5 * table.size[neighbours, :2]
    for axis, (here, there) in enumerate(((along, across), (across, along))):
        excess = np.abs(here) - half[:, axis]
        beside = (excess > 0.0) & (excess < config.hidden_foot_m) & (np.abs(there) < half[:, 1 - axis])
        beside &= level & large & other & partial[None]
        for column in np.flatnonzero(beside.any(axis=0)).tolist():
            most = np.where(beside[:, column], excess[:, column], 0.0)
            farthest = int(np.argmax(most))
            _extend(state, int(neighbours[column]), axis, float(most[farthest]) * np.sign(here[farthest, column]))


def _extend(state: GraphState, row: int, axis: int, by_m: float) -> None:
    """Move one side of a box along its x or y axis outwards: the far one for a positive length, the near one for a
    negative."""
    table = state.table
    yaw = float(table.yaw[row]) + axis * 0.5 * np.pi
    table.size[row, axis] += abs(by_m)
    table.center[row, 0] += 0.5 * by_m * np.cos(yaw)
    table.center[row, 1] += 0.5 * by_m * np.sin(yaw)


def _on_axes(state: GraphState, rows: Rows, neighbours: Rows) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return where the centres of rows lie along and across the boxes of neighbours (rows, neighbours), in metres."""
    table = state.table
    shift = table.center[rows, None, :2] - table.center[None, neighbours, :2]
    yaw = table.yaw[neighbours].astype(np.float64)
    cos, sin = np.cos(yaw), np.sin(yaw)
    return cos * shift[..., 0] + sin * shift[..., 1], cos * shift[..., 1] - sin * shift[..., 0]


def _over_footprint(state: GraphState, rows: Rows, neighbours: Rows, margin_m: float) -> NDArray[np.bool_]:
    """Return (rows, neighbours): the centre of the one is above or below the footprint of the other."""
    along, across = _on_axes(state, rows, neighbours)
    half = 0.5 * state.table.size[neighbours, :2] + margin_m
    return np.asarray((np.abs(along) < half[:, 0]) & (np.abs(across) < half[:, 1]))

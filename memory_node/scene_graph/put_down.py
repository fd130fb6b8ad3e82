"""Where a skill says that it put a thing: that counts for more than what boxes say, while the thing lies there."""

from __future__ import annotations

import numpy as np

from memory_node.scene_graph.state import GraphState
from memory_node.scene_graph.support_extent import over_footprint

# Boxes of several views of a thing that lies still, and of its support, differ by less than this (m).
_SAME_SPOT_M = 0.15


def note_put(state: GraphState, row: int) -> None:
    """Note that the thing of a row was put on or in its support, where it is now."""
    x, y, z = (float(value) for value in state.table.center[row])
    state.table.record(row).put_at = (x, y, z)


def is_where_it_was_put(state: GraphState, row: int) -> bool:
    """Return whether the thing of a row still lies where a skill put it, at a support that is still known there."""
    table, record = state.table, state.table.record(row)
    if record.put_at is None:
        return False
    support = table.row_of.get(record.support_id)
    stays = support is not None and not table.removed[support] and table.log_odds[support] > 0.0
    lies = float(np.linalg.norm(table.center[row] - np.array(record.put_at))) <= _SAME_SPOT_M
    return support is not None and stays and lies and _meet(state, row, support)


def _meet(state: GraphState, row: int, support: int) -> bool:
    """Return whether a thing's box is in, on or at its support's, as near as boxes are known."""
    table = state.table
    apart_m = abs(float(table.center[row, 2] - table.center[support, 2]))
    level = apart_m <= 0.5 * float(table.size[row, 2] + table.size[support, 2]) + _SAME_SPOT_M
    return level and bool(over_footprint(state, np.array([row]), np.array([support]), _SAME_SPOT_M)[0, 0])

"""A drawer that was pulled out or pushed in unseen is the same drawer: it slides to where it is seen, with its load."""

from __future__ import annotations

import math

import numpy as np

from memory_node.domain.geometry import FloatArray
from memory_node.domain.observation import ObjectObservation
from memory_node.domain.states import door_of
from memory_node.scene_graph.in_hand import move_load
from memory_node.scene_graph.object_table import Rows
from memory_node.scene_graph.observed import Observed
from memory_node.scene_graph.state import GraphState

# How far its rail, its level and its sides may seem off (m).
_OFF_M = 0.1


def slide_to(state: GraphState, row: int, center: FloatArray) -> list[int]:
    """Move what opens by sliding to a centre (3,), with what is in it; return the rows of that."""
    by_m = np.asarray(center, np.float64) - state.table.center[row]
    state.table.center[row] += by_m
    load = move_load(state, row, by_m)
    for moved in (row, *load):
        state.place(moved)
    return load


def follow_drawers(state: GraphState, observed: Observed, rows: Rows) -> None:
    """Slide the drawers among some rows that a frame shows open and memory has shut, or the other way round."""
    for observation in observed.observations:
        kind = state.catalogue.find(observation.best_class)
        door = door_of(observation.states)
        if kind is None or not kind.slides or door is None or observation.truncated:
            continue
        of_class = [row for row in rows.tolist() if state.table.record(row).best_class == observation.best_class]
        along = {row: _along_rail_m(state, row, observation) for row in of_class if not state.table.removed[row]}
        found = [(abs(by_m), row) for row, by_m in along.items() if by_m is not None]
        if not found or min(found)[0] <= _OFF_M:
            continue
        moved = [row for _, row in sorted(found) if door_of(state.table.record(row).states) not in (None, door)]
        if moved:
            slide_to(state, moved[0], observation.box.center)


def _along_rail_m(state: GraphState, row: int, observation: ObjectObservation) -> float | None:
    """Return how far a row is from an observation along its own depth; None where it cannot have slid there."""
    table = state.table
    size, yaw = table.size[row], float(table.yaw[row])
    x_m, y_m, z_m = np.asarray(observation.box.center, np.float64) - table.center[row]
    ahead_m = math.cos(yaw) * x_m + math.sin(yaw) * y_m
    aside_m = math.cos(yaw) * y_m - math.sin(yaw) * x_m
    is_alike = np.abs(np.sort(size) - np.sort(observation.box.size)).max() <= _OFF_M
    on_rail = abs(ahead_m) <= size[0] + _OFF_M and max(abs(aside_m), abs(z_m)) <= _OFF_M
    return float(ahead_m) if is_alike and on_rail else None

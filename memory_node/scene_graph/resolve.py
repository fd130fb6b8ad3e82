"""Finds the remembered object that a reference means: an id, a name, or a class with or without a place."""

from __future__ import annotations

import numpy as np

from memory_node.catalogue.class_name import folded
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.geometry import FloatArray
from memory_node.domain.skill import ObjectReference, StateChange
from memory_node.scene_graph.object_table import Rows
from memory_node.scene_graph.state import ROBOT_ID, GraphState

_WITHIN_M = 1.0
# A thing that is named without a place is within the robot's reach (m).
_REACH_M = 2.0


def resolve_changed(state: GraphState, change: StateChange) -> int | None:
    """Return the row that a change is about, None when memory has none.

    A change names its object by our id, as Class@x,y,z, or by a foreign id with class and position. Then what the
    robot holds comes first, unless it is only being picked up; else the nearest of the class within a metre.
    """
    known = state.table.id_of(change.object_id)
    if known:
        return state.table.row(known)
    if change.created_from and not change.object_id.partition("@")[1]:
        return None
    reference = ObjectReference.parse(change.object_id)
    name = change.object_class or reference.object_class
    if not change.held:
        for held in sorted(state.contents.get(ROBOT_ID, ())):
            row = state.table.row(held)
            if folded(state.table.record(row).best_class) == folded(name):
                return row
    position = reference.position or change.position
    return None if position is None else nearest_of_class(state, name, position)


def resolve_reference(state: GraphState, text: str) -> int | None:
    """Return the row of an id, of a name or of Class@x,y,z; None when memory has none."""
    known = state.table.id_of(text)
    if known:
        return state.table.row(known)
    reference = ObjectReference.parse(text)
    return None if reference.position is None else nearest_of_class(state, reference.object_class, reference.position)


def meant_row(
    state: GraphState, text: str, robot: tuple[float, float, float] | None = None, carried: bool = False
) -> int | None:
    """Return the row of the present thing that the argument of a step means, None where that is not certain: steps name
    things by class, too.

    robot: where it stood, which tells one of several things without a place. carried: the thing is, or just was, in
    the hand; its place is then where it was taken from.
    """
    table = state.table
    known = table.id_of(text)
    if known:
        return None if table.removed[table.row(known)] else table.row(known)
    try:
        reference = ObjectReference.parse(text)
    except InvalidValueError:
        return None
    alike = [row for row in state.rows_of_class(reference.object_class).tolist() if not table.removed[row]]
    held = next((row for row in alike if table.record(row).support_id == ROBOT_ID), None)
    if held is not None and (carried or reference.position is None):
        return held
    if reference.position is not None:
        nearest = nearest_of_class(state, reference.object_class, reference.position)
        return held if nearest is None else nearest
    if len(alike) > 1 and robot is not None:
        away_m = np.linalg.norm(table.center[alike, :2] - np.array(robot[:2]), axis=1)
        alike = [row for row, far_m in zip(alike, away_m.tolist()) if far_m <= _REACH_M]
    return alike[0] if len(alike) == 1 else None


def nearest_of_class(state: GraphState, name: str, position: tuple[float, float, float]) -> int | None:
    """Return the row of the nearest present object of a class within a metre of a position in map; a drawer may have
    been pulled out or pushed in since, and its way counts nothing."""
    table = state.table
    x, y, _ = position
    rows = state.index.within((x - _WITHIN_M, y - _WITHIN_M), (x + _WITHIN_M, y + _WITHIN_M))
    rows = rows[table.is_of_class(rows, name)]
    if not rows.size:
        return None
    away_m = off_rail_m(state, rows, np.array(position))
    straight_m = np.linalg.norm(table.center[rows] - np.array(position), axis=1)
    best = int(np.lexsort([straight_m, away_m])[0])
    return int(rows[best]) if away_m[best] <= _WITHIN_M else None


def off_rail_m(state: GraphState, rows: Rows, place: FloatArray) -> FloatArray:
    """Return how far some rows (n,) are from a place (3,) in map, m: what slides from the nearest point that it can
    slide to."""
    table = state.table
    offset, yaw = place - table.center[rows], table.yaw[rows].astype(np.float64)
    front = np.stack([np.cos(yaw), np.sin(yaw), np.zeros(len(yaw))], axis=1)
    kinds = [state.catalogue.find(table.record(row).best_class) for row in rows.tolist()]
    slides = np.array([kind is not None and kind.slides for kind in kinds], dtype=bool)
    reach_m = np.where(slides, table.size[rows, 0], 0.0)
    ahead_m = np.clip((offset * front).sum(axis=1), -reach_m, reach_m)
    return np.asarray(np.linalg.norm(offset - ahead_m[:, None] * front, axis=1))

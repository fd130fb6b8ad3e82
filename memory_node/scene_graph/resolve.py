"""Finds the remembered object that a skill means: by its id, or by class and place when the skill has ids of its
own."""

from __future__ import annotations

import numpy as np

from memory_node.catalogue.class_name import folded
from memory_node.domain.object_reference import ObjectReference
from memory_node.domain.skill import StateChange
from memory_node.scene_graph.state import ROBOT_ID, GraphState

_WITHIN_M = 1.0


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


def nearest_of_class(state: GraphState, name: str, position: tuple[float, float, float]) -> int | None:
    """Return the row of the nearest present object of a class within a metre of a position in map."""
    table = state.table
    x, y, _ = position
    rows = state.index.within((x - _WITHIN_M, y - _WITHIN_M), (x + _WITHIN_M, y + _WITHIN_M))
    rows = rows[table.is_of_class(rows, name)]
    if not rows.size:
        return None
    distance = np.linalg.norm(table.center[rows] - np.array(position), axis=1)
    best = int(np.argmin(distance))
    return int(rows[best]) if distance[best] <= _WITHIN_M else None

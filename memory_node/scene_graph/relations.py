"""The edges between objects and areas, as the snapshot shows them."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from memory_node.domain.scene import Relation, RelationKind
from memory_node.scene_graph.object_table import Rows
from memory_node.scene_graph.state import GraphState


def object_relations(state: GraphState, rows: Rows) -> list[Relation]:
    """Return contains (area to object), on/in (object to its support), supports (back) and near edges of `rows`.

    An object seen once is too often a false detection. So edges to supports are given only for objects that were seen
    twice, or that somebody reported.
    """
    table = state.table
    found: list[Relation] = []
    for row in rows.tolist():
        record = table.record(row)
        if record.area_id:
            found.append(Relation(record.area_id, RelationKind.CONTAINS, record.id))
        if record.support_id and _is_evident(state, row):
            kind = RelationKind.IN if record.inside else RelationKind.ON
            found.append(Relation(record.id, kind, record.support_id))
            if not record.inside:
                found.append(Relation(record.support_id, RelationKind.SUPPORTS, record.id))
    return found + _near(state, rows)


def _is_evident(state: GraphState, row: int) -> bool:
    """Return whether a thing was seen more than once, or told of."""
    return int(state.table.times_seen[row]) > 1 or state.table.record(row).provenance != "camera"


def _near(state: GraphState, rows: Rows) -> list[Relation]:
    """Return for each object its nearest few within near_m, centre to centre; what stands on or in the other is not
    "near"."""
    table, config = state.table, state.config
    if len(rows) < 2:
        return []
    neighbours = min(config.near_neighbours + 1, len(rows))
    distance, which = cKDTree(table.center[rows]).query(
        table.center[rows], k=neighbours, distance_upper_bound=config.near_m
    )
    here, rank = np.nonzero(np.isfinite(distance))
    there = which[here, rank]
    ends = np.sort(np.column_stack([here, there]), axis=1)
    _, first = np.unique(ends[:, 0] * len(rows) + ends[:, 1], return_index=True)
    found: list[Relation] = []
    for i in np.sort(first[here[first] != there[first]]).tolist():
        one, other = table.record(int(rows[here[i]])), table.record(int(rows[there[i]]))
        if other.id != one.support_id and one.id != other.support_id:
            names = min(one.id, other.id), max(one.id, other.id)
            found.append(Relation(names[0], RelationKind.NEAR, names[1], float(distance[here[i], rank[i]])))
    return found

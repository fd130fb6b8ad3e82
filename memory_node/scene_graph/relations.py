"""The edges between objects and areas, as the snapshot shows them."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from memory_node.domain.scene import Relation, RelationKind
from memory_node.scene_graph.object_table import Rows
from memory_node.scene_graph.state import GraphState


def object_relations(state: GraphState, rows: Rows) -> list[Relation]:
    """Return contains (area to object), on/in (object to its support), supports (back) and near edges of `rows`."""
    table = state.table
    found: list[Relation] = []
    for row in rows.tolist():
        record = table.record(row)
        if record.area_id:
            found.append(Relation(record.area_id, RelationKind.CONTAINS, record.id))
        if record.support_id:
            kind = RelationKind.IN if record.inside else RelationKind.ON
            found.append(Relation(record.id, kind, record.support_id))
            if not record.inside:
                found.append(Relation(record.support_id, RelationKind.SUPPORTS, record.id))
    return found + _near(state, rows)


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
    found: list[Relation] = []
    told: set[tuple[str, str]] = set()
    for i, j in zip(*np.nonzero(np.isfinite(distance))):
        one, other = table.record(int(rows[i])), table.record(int(rows[which[i, j]]))
        ends = (min(one.id, other.id), max(one.id, other.id))
        if one.id == other.id or ends in told or other.id == one.support_id or one.id == other.support_id:
            continue
        told.add(ends)
        found.append(Relation(ends[0], RelationKind.NEAR, ends[1], float(distance[i, j])))
    return found

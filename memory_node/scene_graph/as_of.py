"""Where rows of the object table were at an earlier time, for questions such as "where was it last week?"."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.geometry import FloatArray
from memory_node.domain.scene import place_at
from memory_node.scene_graph.object_table import ObjectTable, Rows


@dataclass(frozen=True, eq=False)
class Whereabouts:
    """Rows (n,) with their centres (n, 3) in map, their areas (n,) and when they were last seen there (n,)."""

    rows: Rows
    center: FloatArray
    area_code: NDArray[np.int32]
    last_seen: NDArray[np.int64]

    def select(self, which: NDArray[np.bool_]) -> Whereabouts:
        """Return some of the rows."""
        return Whereabouts(self.rows[which], self.center[which], self.area_code[which], self.last_seen[which])


def whereabouts(table: ObjectTable, rows: Rows) -> Whereabouts:
    """Return where rows (n,) are now."""
    return Whereabouts(rows, table.center[rows], table.area_code[rows], table.last_seen[rows])


def whereabouts_as_of(table: ObjectTable, rows: Rows, stamp_ns: int) -> Whereabouts:
    """Return what `as_of` says of rows (n,), without building the objects."""
    kept = table.first_seen[rows] <= stamp_ns
    center, area_code = table.center[rows], table.area_code[rows]
    last_seen = np.minimum(table.last_seen[rows], stamp_ns)
    elsewhere = kept & (table.removed[rows] | (table.place_since[rows] > stamp_ns))
    for index in np.flatnonzero(elsewhere).tolist():
        row = int(rows[index])
        place = place_at(table.record(row).history, bool(table.removed[row]), stamp_ns)
        if place is None:
            kept[index] = False
            continue
        center[index], area_code[index] = place.box.center, table.code_of_area(place.area_id)
        last_seen[index] = min(place.until_ns, stamp_ns)
    return Whereabouts(rows, center, area_code, last_seen).select(kept)

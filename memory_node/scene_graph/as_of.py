"""The graph as it was at an earlier time, for questions such as "where was it last week?"."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.geometry import FloatArray
from memory_node.domain.scene import Place, SceneObject
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


def as_of(objects: Iterable[tuple[SceneObject, int]], stamp_ns: int) -> Iterator[SceneObject]:
    """Yield the objects that were believed present at a stamp, where they were then.

    objects: each with the stamp at which it came to its present place, removed ones included. A place of the history
    holds until the next one begins; the last place of a removed object holds until it was last seen there.
    """
    for found, place_since_ns in objects:
        if found.first_seen_ns > stamp_ns:
            continue
        if not found.removed and place_since_ns <= stamp_ns:
            yield found.changed(last_seen_ns=min(found.last_seen_ns, stamp_ns))
            continue
        place = _place_at(found.history, found.removed, stamp_ns)
        if place is not None:
            yield found.changed(
                box=place.box,
                area_id=place.area_id,
                support_id=place.support_id,
                removed=False,
                last_seen_ns=min(place.until_ns, stamp_ns),
            )


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
        place = _place_at(table.record(row).history, bool(table.removed[row]), stamp_ns)
        if place is None:
            kept[index] = False
            continue
        center[index], area_code[index] = place.box.center, table.code_of_area(place.area_id)
        last_seen[index] = min(place.until_ns, stamp_ns)
    return Whereabouts(rows, center, area_code, last_seen).select(kept)


def _place_at(history: tuple[Place, ...], removed: bool, stamp_ns: int) -> Place | None:
    begun = [place for place in history if place.since_ns <= stamp_ns]
    if not begun or (removed and begun[-1] is history[-1] and stamp_ns > begun[-1].until_ns):
        return None
    return begun[-1]

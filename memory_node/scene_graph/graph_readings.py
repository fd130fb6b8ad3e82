"""What can be read out of a scene graph: objects, their rows and records, areas and rooms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from memory_node.domain.errors import NotFoundError
from memory_node.domain.geometry import FloatArray, Pose
from memory_node.domain.scene import SceneObject, as_of
from memory_node.scene_graph.object_table import Rows
from memory_node.scene_graph.persistence import graph_to_records, row_to_record
from memory_node.scene_graph.places import Places
from memory_node.scene_graph.resolve import meant_row, off_rail_m
from memory_node.scene_graph.room_kinds import room_kind
from memory_node.scene_graph.scene_records import Record, records_hash
from memory_node.scene_graph.state import ROBOT_ID, GraphState

_NO_BELIEFS = frozenset({"now_ns", "version", "last_names"})


class GraphReadings:
    """The questions that a graph answers; nothing here changes it.

    state: the objects. places: the areas, rooms and floors.
    """

    def __init__(self, state: GraphState, places: Places) -> None:
        self.state = state
        self.places = places

    @property
    def counters(self) -> Counter[str]:
        """How often what was skipped or repaired, by reason, for diagnostics."""
        return self.state.counters

    @property
    def version(self) -> int:
        """A number that grows with every change."""
        return self.state.version

    def __len__(self) -> int:
        return len(self.state.table)

    def object(self, object_id: str) -> SceneObject:
        """Return one object, removed ones included.

        Raises:
            NotFoundError: no object has this id.
        """
        return self.state.object_at(self.state.table.row(object_id))

    def find(self, object_id: str) -> SceneObject | None:
        """Return one object, removed ones included; None where no object has this id."""
        try:
            return self.object(object_id)
        except NotFoundError:
            return None

    def meant(
        self, text: str, robot: tuple[float, float, float] | None = None, carried: bool = False
    ) -> SceneObject | None:
        """Return the present object that the argument of a step means, see `meant_row`."""
        row = meant_row(self.state, text, robot, carried)
        return None if row is None else self.state.object_at(row)

    def is_present(self, object_id: str) -> bool:
        """Return whether there is an object of this id or name that is not removed."""
        return bool(self.present_id(object_id))

    def present_id(self, reference: str) -> str:
        """Return the id of the object that is not removed which an id or a name stands for, "" for none."""
        found = self.state.table.id_of(reference)
        row = self.state.table.row_of.get(found)
        return "" if row is None or self.state.table.removed[row] else found

    def objects(self, removed: bool = False) -> list[SceneObject]:
        """Return all present objects in order of birth; with `removed` also those that are gone."""
        rows = np.fromiter(self.state.table.rows(), np.intp) if removed else self.state.active_rows()
        covariance = self.state.table.covariances(rows)
        return [self.state.object_at(row, covariance[i]) for i, row in enumerate(rows.tolist())]

    def objects_of_class(self, name: str) -> list[SceneObject]:
        """Return the present objects of a class, however it is spelt."""
        rows = self.state.rows_of_class(name)
        return [self.state.object_at(row) for row in rows[~self.state.table.removed[rows]].tolist()]

    def centers_of_class(self, name: str) -> tuple[Rows, FloatArray]:
        """Return the rows (n) of the present objects of a class, however spelt, and their centres in map (n, 3)."""
        rows = self.state.rows_of_class(name)
        rows = rows[~self.state.table.removed[rows]]
        return rows, self.state.table.center[rows]

    def distances(
        self, name: str, position: tuple[float, float, float], may_have_slid: bool
    ) -> tuple[Rows, FloatArray]:
        """Return the rows (n) of the present objects of a class, and how far their centres are from a position in map
        (n,), m. may_have_slid: what opens by sliding may have been pulled out or pushed in; its way counts nothing."""
        rows, centers = self.centers_of_class(name)
        if may_have_slid:
            return rows, off_rail_m(self.state, rows, np.array(position))
        return rows, np.linalg.norm(centers - np.array(position), axis=1)

    def id_of(self, row: int) -> str:
        """Return the id of the object of a row."""
        return self.state.table.record(row).id

    def rows_carried(self) -> Rows:
        """Return the rows of what the robot is believed to hold, then of what is on or in that."""
        return np.array(self.state.load_of(ROBOT_ID), dtype=np.intp)

    def objects_near(self, point: ArrayLike, radius_m: float) -> list[SceneObject]:
        """Return the present objects whose centre lies within `radius_m` of a point (x, y, z) in map, nearest first."""
        at = np.asarray(point, dtype=np.float64)
        low, high = at[:2] - radius_m, at[:2] + radius_m
        rows = self.state.index.within((float(low[0]), float(low[1])), (float(high[0]), float(high[1])))
        distance = np.linalg.norm(self.state.table.center[rows] - at, axis=1)
        order = np.argsort(distance, kind="stable")
        return [self.state.object_at(row) for row in rows[order[distance[order] <= radius_m]].tolist()]

    def objects_as_of(self, rows: Iterable[int], stamp_ns: int) -> Iterator[SceneObject]:
        """Yield the objects of table rows that were believed present at a stamp, where they were then."""
        return as_of(map(self.state.object_at, rows), stamp_ns)

    def missed_at(self, stamp_ns: int) -> list[str]:
        """Return the ids of the objects that the frame of a stamp looked for in vain."""
        table = self.state.table
        return [table.record(row).id for row in np.flatnonzero(table.alive & (table.last_missed == stamp_ns)).tolist()]

    def area_of(self, object_id: str) -> str:
        """Return the id of the area that an object is in, "" where nobody knows."""
        row = self.state.table.row_of.get(self.state.table.id_of(object_id))
        return "" if row is None else self.state.table.record(row).area_id

    def class_of(self, object_id: str) -> str:
        """Return the most probable class of an object, "" where no object has this id."""
        row = self.state.table.row_of.get(self.state.table.id_of(object_id))
        return "" if row is None else self.state.table.record(row).best_class

    def room_name(self, area_id: str) -> str:
        """Return the name of the room that an area belongs to, "" where there is none."""
        places = self.places
        room_id = places.areas[area_id].room_id if area_id in places.areas else ""
        return places.rooms[room_id].name if room_id in places.rooms else ""

    def room_kinds(self) -> dict[str, str]:
        """Return by id the kind of each room that is named by one."""
        named = {room.id: room_kind(room.name, self.state.catalogue.rooms) for room in self.places.rooms.values()}
        return {room_id: kind for room_id, kind in named.items() if kind}

    def record(self, object_id: str) -> Record:
        """Return one object as the row that the store keeps."""
        return row_to_record(self.state, self.state.table.row(object_id))

    def to_records(self) -> dict[str, Any]:
        """Return the whole graph as JSON-able rows: objects, areas, rooms, floors, paths, keyframes."""
        return graph_to_records(self.state, self.places)

    def hash(self) -> str:
        """Return a hash of everything that the graph believes: equal for equal replays.

        How often it changed, its newest stamp and which names are taken are no beliefs: an edit and its undo leave the
        hash as it was.
        """
        return records_hash({name: rows for name, rows in self.to_records().items() if name not in _NO_BELIEFS})

    def keyframes(self) -> dict[str, Pose]:
        """Return map_T_keyframe by name, of the keyframes that things were seen from."""
        return dict(self.state.keyframes)

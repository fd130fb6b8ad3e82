"""What can be read out of a scene graph: objects now and as of a stamp, relations, areas, rooms, snapshots."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import cKDTree

from memory_node.domain.errors import NotFoundError
from memory_node.domain.geometry import FloatArray, Pose
from memory_node.domain.scene import (
    Relation,
    RelationKind,
    SceneObject,
    SceneSnapshot,
    as_of,
    place_at,
    relations_as_of,
)
from memory_node.domain.states import ObjectState, door_of
from memory_node.scene_graph.object_table import ObjectTable, Rows
from memory_node.scene_graph.places import Places
from memory_node.scene_graph.resolve import meant_row, off_rail_m
from memory_node.scene_graph.room_naming import room_kind
from memory_node.scene_graph.scene_records import graph_to_records, records_hash
from memory_node.scene_graph.state import ROBOT_ID, GraphState

# So far (m) beyond a thing's box a robot's report of where it did something to it is not wrong.
_ELSEWHERE_M = 0.25


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
        is_evident = table.times_seen[row] > 1 or record.provenance != "camera"
        if record.support_id and is_evident:
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


_NO_BELIEFS = frozenset({"now_ns", "version", "last_names"})


class GraphReadings:
    """The questions that a graph answers; nothing here changes it.

    state: the objects. places: the areas, rooms and floors. frame_verified: whether the map is known to be the one that
    what is stored was seen in.
    """

    def __init__(self, state: GraphState, places: Places) -> None:
        self.state = state
        self.places = places
        self.frame_verified = True
        self._latest: SceneSnapshot | None = None

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
        return [self.state.object_at(row) for row in self._present_of_class(name).tolist()]

    def _present_of_class(self, name: str) -> Rows:
        rows = self.state.rows_of_class(name)
        return rows[~self.state.table.removed[rows]]

    def distances(
        self, name: str, position: tuple[float, float, float], door: ObjectState | None = None
    ) -> tuple[Rows, FloatArray]:
        """Return the rows (n) of the present objects of a class, and how far their centres are from a position in map
        (n,), m. door: whether the one meant was opened or closed just now: the way of what slides counts nothing then,
        but for one that was so already."""
        rows, place = self._present_of_class(name), np.array(position)
        straight_m = np.linalg.norm(self.state.table.center[rows] - place, axis=1)
        if door is None:
            return rows, straight_m
        was_so = np.array([door_of(self.state.table.record(row).states) is door for row in rows.tolist()], dtype=bool)
        return rows, np.where(was_so, straight_m, off_rail_m(self.state, rows, place))

    def id_of(self, row: int) -> str:
        """Return the id of the object of a row."""
        return self.state.table.record(row).id

    def is_seen_elsewhere(self, row: int, off_m: float, stamp_ns: int) -> bool:
        """Return whether a camera has shown a row at its place at a stamp or later, and something that happened off_m
        from its middle (m) happened to another thing."""
        beyond_m = off_m - 0.5 * float(np.linalg.norm(self.state.table.size[row]))
        return beyond_m > _ELSEWHERE_M and int(self.state.table.last_seen[row]) >= stamp_ns

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

    def snapshot(self, as_of_ns: int = 0, removed: bool = False) -> SceneSnapshot:
        """Return the whole graph, now or as of a stamp; `removed`: with objects that are kept for their history.

        An earlier graph has the relations of its places, its areas and what stood on what; see `as_of`. That of now is
        kept until the graph changes, because many ask for it.
        """
        state = self.state
        if as_of_ns:
            then = tuple(self.objects_as_of(state.table.rows(), as_of_ns))
            return self._snapshot(as_of_ns, then, relations_as_of(then))
        latest, now = self._latest, (self.version, self.frame_verified)
        if not removed and latest is not None and (latest.version, latest.frame_verified) == now:
            return latest
        found = self._snapshot(state.now_ns, self.objects(removed), object_relations(state, state.active_rows()))
        if not removed:
            self._latest = found
        return found

    def _snapshot(self, stamp_ns: int, objects: Iterable[SceneObject], relations: Iterable[Relation]) -> SceneSnapshot:
        places = self.places
        return SceneSnapshot(
            stamp_ns=stamp_ns,
            floors=tuple(places.floors.values()),
            rooms=tuple(places.rooms.values()),
            areas=tuple(places.areas.values()),
            objects=tuple(objects),
            relations=(*places.relations(), *relations),
            frame_verified=self.frame_verified,
            version=self.version,
        )

    def snapshot_of_one(self, object_id: str, as_of_ns: int = 0) -> SceneSnapshot:
        """Return one object alone, now (removed or not) or as of a stamp, without places; none where nothing has this
        id, or nothing had it then."""
        row = self.state.table.row_of.get(self.state.table.id_of(object_id))
        objects: tuple[SceneObject, ...] = () if row is None else (self.state.object_at(row),)
        if as_of_ns:
            objects = tuple(as_of(objects, as_of_ns))
        stamp_ns = as_of_ns or self.state.now_ns
        return SceneSnapshot(stamp_ns, objects=objects, frame_verified=self.frame_verified, version=self.version)

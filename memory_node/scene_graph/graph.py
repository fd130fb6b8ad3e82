"""SceneGraph: the long-term memory's front door."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memory_node.catalogue.label_space import load_catalogue
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.answer import RankedArea
from memory_node.domain.geometry import FloatArray, Pose, wrap_angle
from memory_node.domain.observation import Frame
from memory_node.domain.ports import TextEmbedder
from memory_node.domain.scene import Relation, Room, SceneEvent, SceneEventKind, SceneObject, SceneSnapshot
from memory_node.domain.skill import StateChange
from memory_node.domain.states import StateBelief
from memory_node.scene_graph.as_of import as_of
from memory_node.scene_graph.config import SceneGraphConfig
from memory_node.scene_graph.frame_update import FrameUpdate
from memory_node.scene_graph.free_space import OccupancyMap
from memory_node.scene_graph.in_hand import without_held
from memory_node.scene_graph.object_table import Rows
from memory_node.scene_graph.persistence import enter_object, graph_to_records, load_records, row_to_record
from memory_node.scene_graph.place_habits import PlaceHabits
from memory_node.scene_graph.places import Places
from memory_node.scene_graph.pose_correction import correct_keyframes, drop_unused_keyframes
from memory_node.scene_graph.relations import object_relations
from memory_node.scene_graph.relocalization import UNMOVED, Relocalization
from memory_node.scene_graph.room_kinds import RoomClassifier, room_kind
from memory_node.scene_graph.room_naming import RoomNaming
from memory_node.scene_graph.scene_records import Record, records_hash
from memory_node.scene_graph.search_areas import rank_areas
from memory_node.scene_graph.shift import shift_graph
from memory_node.scene_graph.skill_change import apply_change
from memory_node.scene_graph.stamp_ids import StampIds
from memory_node.scene_graph.state import ROBOT_ID, GraphState
from memory_node.scene_graph.text_form import scene_as_text
from memory_node.scene_graph.tracked_update import TrackedUpdate

_REPEATED_VIEW_WEIGHT = 0.2
_KEYFRAMES_BETWEEN_TIDYINGS = 1000
# No camera of a robot is higher above the floor that it stands on.
_STOREY_M = 2.5


class SceneGraph:
    """The objects, areas, rooms and floors of a site, built frame by frame (KARMA's long-term memory).

    Deterministic: the same frames, maps and changes in the same order give the same graph, ids included. Not
    thread-safe.
    """

    def __init__(
        self,
        config: SceneGraphConfig | None = None,
        make_id: Callable[[int], str] | None = None,
        embedder: TextEmbedder | None = None,
        catalogue: ObjectCatalogue | None = None,
    ) -> None:
        """catalogue: what is known of classes; by default the household's."""
        self.config = config or SceneGraphConfig()
        make_id = make_id or StampIds()
        self.places = Places(self.config, make_id)
        self.state = GraphState(self.config, make_id, places=self.places, catalogue=catalogue or load_catalogue())
        self.embedder = embedder
        self.habits: PlaceHabits | None = None
        self._naming = self._naming_by(embedder) if embedder is not None and self.state.catalogue.rooms else None
        self._latest: SceneSnapshot | None = None
        self._last_view: Pose | None = None
        self._camera_at: FloatArray | None = None
        self._relocalization: Relocalization | None = None

    @property
    def camera_at(self) -> FloatArray | None:
        """Where the last frame's camera was (3,) in map; None before the first."""
        return self._camera_at

    @property
    def frame_verified(self) -> bool:
        """Whether the map is known to be the one that what is stored was seen in; see `doubt_frame`."""
        return self._relocalization is None

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

    def observe(self, frame: Frame) -> list[SceneEvent]:
        """Take one frame in and return what it changed.

        A frame older than the last by less than clock_jump_s came out of order and is skipped (counter "late_frame");
        one older still means that the clock was set back (counter "clock_jump") and is taken.
        """
        behind_s = (self.state.now_ns - frame.stamp_ns) * 1e-9
        if 0.0 < behind_s <= self.config.clock_jump_s:
            self.counters["late_frame"] += 1
            return []
        if behind_s > self.config.clock_jump_s:
            self.counters["clock_jump"] += 1
        self.state.now_ns = frame.stamp_ns
        if frame.keyframe and frame.keyframe not in self.state.keyframes:
            self.set_keyframe(frame.keyframe, frame.map_T_camera)
        seen = without_held(self.state, frame)
        # Before the frame is verified, stored things may seem absent only because they are looked for elsewhere.
        weight = self._view_weight(frame.map_T_camera)
        kind = TrackedUpdate if _is_tracked(seen) else FrameUpdate
        events = kind(self.state, seen, weight, absence_counts=self.frame_verified).run()
        events += self._compare_with_stored(seen, weight)
        self._note_place(frame.map_T_camera.position)
        self._note_view(frame)
        self._name_rooms(events, at_once=False)
        self.state.version += 1
        return events

    def apply_change(self, change: StateChange) -> list[SceneEvent]:
        """Take over what a skill is known to have done and return what it changed."""
        self.state.now_ns = max(self.state.now_ns, change.stamp_ns)
        self.state.version += 1
        events = apply_change(self.state, change)
        self.take_notice(events, at_once=False)
        return events

    def believe_states(self, object_id: str, states: tuple[StateBelief, ...], stamp_ns: int) -> SceneEvent:
        """Take over what is believed of an object's states as of a stamp, and return what that changed.

        Raises:
            NotFoundError: no object has this id.
        """
        row = self.state.table.row(object_id)
        self.state.now_ns = max(self.state.now_ns, stamp_ns)
        self.state.version += 1
        self.state.table.set_states(row, states)
        self.state.refresh_shelter(object_id)
        return self.state.event(SceneEventKind.UPDATED, row)

    def doubt_frame(self) -> None:
        """Begin to doubt that the map is the one that the graph was built in, as after a restart.

        Until that is confirmed, by `confirm_frame` or by fixed things that are seen where they are remembered, answers
        say so and nothing counts as gone. Where what is seen fits under another origin, what is stored moves there.
        """
        self._relocalization = Relocalization(self.state, self.places)

    def confirm_frame(self, new_T_old: Pose | None = None) -> list[SceneEvent]:
        """Trust the map frame; new_T_old: pose of the old map in the new one, if its origin has moved.

        What was seen since the doubt began is in the new map already.
        """
        doubted, self._relocalization = self._relocalization, None
        events: list[SceneEvent] = []
        if new_T_old is not None and doubted is not None:
            events = doubted.move_stored(new_T_old)
            self._locate_anew()
        elif new_T_old is not None:
            shift_graph(self.state, self.places, new_T_old)
            events = [self.state.event(SceneEventKind.MOVED, row) for row in self.state.table.rows()]
        self.state.version += 1
        return events

    def _compare_with_stored(self, frame: Frame, weight: float) -> list[SceneEvent]:
        now_T_then = None if self._relocalization is None else self._relocalization.compare(frame, weight)
        if now_T_then is None:
            return []
        return self.confirm_frame(None if now_T_then is UNMOVED else now_T_then)

    def set_map(
        self,
        occupancy: NDArray[np.int8],
        resolution_m: float,
        map_T_origin: Pose,
        stamp_ns: int = 0,
        robot: tuple[float, float] | None = None,
    ) -> None:
        """Lay out areas and rooms on an occupancy grid (height, width), see OccupancyMap; ids stay as the map grows.

        A grid whose origin is at another height is of another floor, which the robot is on from now on. robot: where it
        stands, (x, y) in map, by default where the last frame's camera was.
        """
        if robot is None and self._camera_at is not None:
            above_m = float(self._camera_at[2] - map_T_origin.position[2])
            robot = self._robot_at() if 0.0 < above_m < _STOREY_M else None
        self.places.set_map(OccupancyMap(occupancy, resolution_m, map_T_origin), stamp_ns, robot)
        self._locate_anew()
        self.state.version += 1

    def _robot_at(self) -> tuple[float, float] | None:
        return None if self._camera_at is None else (float(self._camera_at[0]), float(self._camera_at[1]))

    def _note_place(self, camera: FloatArray) -> None:
        """Note where the camera (3,) is. A map that came before anybody knew is laid out again where it tells that the
        robot is in another part of it."""
        first, self._camera_at = self._camera_at is None, camera
        here = self.places.here = self.places.floor_at(float(camera[2]))
        ground = self.places.grounds.get(here) if first else None
        if ground is not None and ground.is_elsewhere(camera[:2]):
            self.set_map(ground.map.cells, ground.map.resolution_m, ground.map.map_T_origin, self.state.now_ns)

    def _locate_anew(self) -> None:
        """Find the areas of things whose area is gone or on another floor, and name all rooms again."""
        for row in self.state.active_rows().tolist():
            area = self.places.areas.get(self.state.table.record(row).area_id)
            if area is None or area.floor_id != self.places.floor_at(float(self.state.table.center[row, 2])):
                self.state.locate(row, None)
        if self._naming is not None:
            self._naming.touch(self.places.areas)
            self._naming.rename(at_once=True)

    def take_notice(self, events: Iterable[SceneEvent], at_once: bool = True) -> None:
        """Take notice of what a person or a skill changed: name the rooms again in which that was. Who edits the graph
        from outside calls this."""
        if self._relocalization is not None:
            self._relocalization.note_told(events)
        self._name_rooms(events, at_once)

    def _name_rooms(self, events: Iterable[SceneEvent], at_once: bool) -> None:
        if self._naming is not None:
            self._naming.note(events)
            self._naming.rename(at_once)

    def take_renamed_rooms(self) -> tuple[Room, ...]:
        """Return the rooms that were named after their contents since the last call, with their names of now."""
        return () if self._naming is None else self._naming.take_renamed()

    def object(self, object_id: str) -> SceneObject:
        """Return one object, removed ones included.

        Raises:
            NotFoundError: no object has this id.
        """
        return self.state.object_at(self.state.table.row(object_id))

    def is_present(self, object_id: str) -> bool:
        """Return whether there is an object of this id that is not removed."""
        row = self.state.table.row_of.get(object_id)
        return row is not None and not self.state.table.removed[row]

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

    def id_of(self, row: int) -> str:
        """Return the id of the object of a row."""
        return self.state.table.record(row).id

    def rows_held(self) -> Rows:
        """Return the rows of what the robot is believed to hold, ascending."""
        held = self.state.contents.get(ROBOT_ID, ())
        return np.sort(np.array([self.state.table.row(object_id) for object_id in held], dtype=np.intp))

    def objects_near(self, point: ArrayLike, radius_m: float) -> list[SceneObject]:
        """Return the present objects whose centre lies within `radius_m` of a point (x, y, z) in map, nearest first."""
        at = np.asarray(point, dtype=np.float64)
        low, high = at[:2] - radius_m, at[:2] + radius_m
        rows = self.state.index.within((float(low[0]), float(low[1])), (float(high[0]), float(high[1])))
        distance = np.linalg.norm(self.state.table.center[rows] - at, axis=1)
        order = np.argsort(distance, kind="stable")
        return [self.state.object_at(row) for row in rows[order[distance[order] <= radius_m]].tolist()]

    def add_object(self, found: SceneObject) -> None:
        """Enter an object that is known from elsewhere; one with the same id is replaced."""
        if found.id in self.state.table.row_of:
            self.state.drop(self.state.table.row(found.id))
        enter_object(self.state, found)
        if self._naming is not None:
            self._naming.touch([found.area_id])
        self.state.version += 1

    def snapshot(self, as_of_ns: int = 0, removed: bool = False) -> SceneSnapshot:
        """Return the whole graph, now or as of a stamp; `removed`: with objects that are kept for their history.

        Relations between objects are those of now; an earlier graph has only those between its places.
        """
        if as_of_ns:
            return self._snapshot(as_of_ns, self.objects_as_of(self.state.table.rows(), as_of_ns), ())
        if removed:
            return self._snapshot(self.state.now_ns, self.objects(removed), self._relations())
        latest = self._latest
        if latest is None or (latest.version, latest.frame_verified) != (self.version, self.frame_verified):
            latest = self._latest = self._snapshot(self.state.now_ns, self.objects(), self._relations())
        return latest

    def _relations(self) -> list[Relation]:
        return object_relations(self.state, self.state.active_rows())

    def _snapshot(self, stamp_ns: int, objects: Iterable[SceneObject], relations: Iterable[Relation]) -> SceneSnapshot:
        return SceneSnapshot(
            stamp_ns=stamp_ns,
            floors=tuple(self.places.floors.values()),
            rooms=tuple(self.places.rooms.values()),
            areas=tuple(self.places.areas.values()),
            objects=tuple(objects),
            relations=(*self.places.relations(), *relations),
            frame_verified=self.frame_verified,
            version=self.state.version,
        )

    def rank_search_areas(self, object_class: str, k: int = 0, now_ns: int | None = None) -> tuple[RankedArea, ...]:
        """Return the areas of the floor that the robot is on where an object of the class is likely, best first; k = 0
        gives all."""
        areas = [area for area in self.places.areas.values() if self.places.here in ("", area.floor_id)]
        now_ns = self.state.now_ns if now_ns is None else now_ns
        kinds = {} if self.habits is None else self.room_kinds()
        return rank_areas(self.state, areas, object_class, now_ns, k, self.embedder, self.habits, kinds)

    def room_kinds(self) -> dict[str, str]:
        """Return by id the kind of each room that is named by one."""
        named = {room.id: room_kind(room.name, self.state.catalogue.rooms) for room in self.places.rooms.values()}
        return {room_id: kind for room_id, kind in named.items() if kind}

    def text_form(self, token_budget: int = 2000, near: tuple[float, float] | None = None, topic: str = "") -> str:
        """Return the graph in words for a prompt (KARMA's form), nearest and most relevant areas first.

        near: (x, y) in map, by default where the last frame's camera was.
        """
        near = self._robot_at() if near is None else near
        return scene_as_text(self.state, self.places, token_budget, near, topic, self.embedder)

    def record(self, object_id: str) -> Record:
        """Return one object as the row that the store keeps."""
        return row_to_record(self.state, self.state.table.row(object_id))

    def to_records(self) -> dict[str, Any]:
        """Return the whole graph as JSON-able rows: objects, areas, rooms, floors, paths, keyframes."""
        return graph_to_records(self.state, self.places)

    @classmethod
    def from_records(
        cls,
        records: Mapping[str, Any],
        config: SceneGraphConfig | None = None,
        make_id: Callable[[int], str] | None = None,
        embedder: TextEmbedder | None = None,
        catalogue: ObjectCatalogue | None = None,
    ) -> SceneGraph:
        """Return the graph of `to_records`; missing lists count as empty."""
        graph = cls(config, make_id, embedder, catalogue)
        load_records(graph.state, graph.places, records)
        return graph

    def set_keyframe(self, name: str, map_T_keyframe: Pose) -> None:
        """Note where a keyframe is, before frames name it; else a keyframe lies where its first frame's camera was."""
        self.state.keyframes[name] = map_T_keyframe
        if len(self.state.keyframes) % _KEYFRAMES_BETWEEN_TIDYINGS == 0:
            drop_unused_keyframes(self.state, kept=name)

    def keyframes(self) -> dict[str, Pose]:
        """Return map_T_keyframe by name, of the keyframes that things were seen from."""
        return dict(self.state.keyframes)

    def correct_poses(self, corrected: Mapping[str, Pose]) -> list[SceneEvent]:
        """Move what was seen from keyframes whose map_T_keyframe SLAM has corrected; ids stay."""
        rows = correct_keyframes(self.state, corrected)
        self.state.version += 1
        return [self.state.event(SceneEventKind.UPDATED, row) for row in rows]

    def hash(self) -> str:
        """Return a hash of everything that the graph believes: equal for equal replays."""
        return records_hash(self.to_records())

    def objects_as_of(self, rows: Iterable[int], stamp_ns: int) -> Iterator[SceneObject]:
        """Yield the objects of table rows that were believed present at a stamp, where they were then."""
        place_since = self.state.table.place_since
        return as_of(((self.state.object_at(row), int(place_since[row])) for row in rows), stamp_ns)

    def _naming_by(self, embedder: TextEmbedder) -> RoomNaming:
        classifier = RoomClassifier(self.state.catalogue, embedder, self.config.room_cosine_slope)
        return RoomNaming(self.state, self.places, classifier)

    def area_of(self, object_id: str) -> str:
        """Return the id of the area that an object is in, "" where nobody knows."""
        row = self.state.table.row_of.get(object_id)
        return "" if row is None else self.state.table.record(row).area_id

    def class_of(self, object_id: str) -> str:
        """Return the most probable class of an object, "" where no object has this id."""
        row = self.state.table.row_of.get(object_id)
        return "" if row is None else self.state.table.record(row).best_class

    def missed_at(self, stamp_ns: int) -> list[str]:
        """Return the ids of the objects that the frame of a stamp looked for in vain."""
        table = self.state.table
        return [table.record(row).id for row in np.flatnonzero(table.alive & (table.last_missed == stamp_ns)).tolist()]

    def room_name(self, area_id: str) -> str:
        """Return the name of the room that an area belongs to, "" where there is none."""
        places = self.places
        room_id = places.areas[area_id].room_id if area_id in places.areas else ""
        return places.rooms[room_id].name if room_id in places.rooms else ""

    def _view_weight(self, map_T_camera: Pose) -> float:
        """Return how much a frame's evidence on existence counts: a camera that stands still repeats its errors."""
        last = self._last_view
        if last is not None:
            near = float(np.linalg.norm(map_T_camera.position - last.position)) < self.config.view_step_m
            cosine = min(1.0, abs(float(map_T_camera.quaternion @ last.quaternion)))
            if near and abs(wrap_angle(2.0 * float(np.arccos(cosine)))) < self.config.view_step_rad:
                return _REPEATED_VIEW_WEIGHT
        self._last_view = map_T_camera
        return 1.0

    def _note_view(self, frame: Frame) -> None:
        """Mark the areas that lie in view, up to half the evidence range, as looked at."""
        ids, positions = self.places.areas_on(self.places.here)
        if frame.intrinsics is None or not ids:
            return
        axis = frame.map_T_camera.matrix[:2, 2]
        length = float(np.linalg.norm(axis))
        if length < 1e-6:
            return
        reach = 0.5 * self.config.evidence_range_m
        offset = positions - frame.map_T_camera.position[:2]
        ahead = offset @ (axis / length)
        aside = np.abs(offset @ (np.array([-axis[1], axis[0]]) / length))
        half = 0.5 * frame.intrinsics.width / frame.intrinsics.fx
        seen = (ahead > 0.2) & (ahead < reach) & (aside < half * ahead)
        self.places.looked_at([ids[i] for i in np.flatnonzero(seen).tolist()], frame.stamp_ns)


def _is_tracked(frame: Frame) -> bool:
    """Return whether somebody follows the things of a frame from view to view."""
    return bool(frame.ended_tracks) or any(observation.track for observation in frame.observations)

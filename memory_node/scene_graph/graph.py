"""SceneGraph: the interface of the long-term memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from memory_node.catalogue.label_space import load_catalogue
from memory_node.catalogue.object_catalogue import ObjectCatalogue
from memory_node.domain.answer import RankedArea
from memory_node.domain.geometry import FloatArray, Pose
from memory_node.domain.observation import Frame
from memory_node.domain.ports import TextEmbedder
from memory_node.domain.scene import Room, SceneEvent, SceneEventKind, SceneObject, SceneSnapshot
from memory_node.domain.skill import StateChange
from memory_node.domain.states import StateBelief
from memory_node.scene_graph.carrying import without_held
from memory_node.scene_graph.config import SceneGraphConfig
from memory_node.scene_graph.frame_update import FrameUpdate
from memory_node.scene_graph.free_space import OccupancyMap
from memory_node.scene_graph.graph_readings import GraphReadings
from memory_node.scene_graph.place_habits import PlaceHabits
from memory_node.scene_graph.places import CameraViews, Places
from memory_node.scene_graph.relocalization import (
    UNMOVED,
    Relocalization,
    correct_keyframes,
    drop_unused_keyframes,
    shift_graph,
)
from memory_node.scene_graph.room_naming import RoomClassifier, RoomNaming
from memory_node.scene_graph.scene_records import enter_object, enter_scene
from memory_node.scene_graph.search_areas import rank_areas
from memory_node.scene_graph.skill_change import apply_change
from memory_node.scene_graph.state import GraphState, StampIds
from memory_node.scene_graph.text_form import SceneText, scene_in_words
from memory_node.scene_graph.tracked_update import TrackedUpdate

_KEYFRAMES_BETWEEN_TIDYINGS = 1000
# No camera of a robot is higher above the floor that it stands on.
_STOREY_M = 2.5


class SceneGraph(GraphReadings):
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
        places = Places(self.config, make_id)
        super().__init__(
            GraphState(self.config, make_id, places=places, catalogue=catalogue or load_catalogue()), places
        )
        self.embedder = embedder
        self.habits: PlaceHabits | None = None
        self._naming = self._naming_by(embedder) if embedder is not None and self.state.catalogue.rooms else None
        self._views = CameraViews(self.config, places)
        self._camera_at: FloatArray | None = None
        self._relocalization: Relocalization | None = None

    @property
    def camera_at(self) -> FloatArray | None:
        """Where the last frame's camera was (3,) in map; None before the first."""
        return self._camera_at

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
        weight = self._views.weight(frame.map_T_camera)
        is_tracked = bool(seen.ended_tracks) or any(one.track for one in seen.observations)
        kind = TrackedUpdate if is_tracked else FrameUpdate
        events = kind(self.state, seen, weight, absence_counts=self.frame_verified).run()
        events += self._compare_with_stored(seen, weight)
        self._note_place(frame.map_T_camera.position)
        self._views.note(frame)
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

        The doubt ends by `confirm_frame`, or when fixed things are seen at their remembered places. Until then answers
        say so, and nothing counts as gone. If what is seen fits the stored objects under another origin, these move
        there.
        """
        self._relocalization = Relocalization(self.state, self.places)
        self.frame_verified = False

    def confirm_frame(self, new_T_old: Pose | None = None) -> list[SceneEvent]:
        """Trust the map frame; new_T_old: pose of the old map in the new one, if its origin has moved.

        What was seen since the doubt began is in the new map already.
        """
        doubted, self._relocalization = self._relocalization, None
        self.frame_verified = True
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
            robot = self.robot_at if 0.0 < above_m < _STOREY_M else None
        self.places.set_map(OccupancyMap(occupancy, resolution_m, map_T_origin), stamp_ns, robot)
        self._locate_anew()
        self.state.version += 1

    @property
    def robot_at(self) -> tuple[float, float] | None:
        """Where the last frame's camera was, (x, y) in map; None before the first frame."""
        return None if self._camera_at is None else (float(self._camera_at[0]), float(self._camera_at[1]))

    def _note_place(self, camera: FloatArray) -> None:
        """Note the camera's position (3,). If it shows that the robot is in another part of the map than assumed,
        divide the map into areas again."""
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
        """Follow changes by a person or a skill: name the affected rooms again. Callers that edit the graph directly
        must call this."""
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

    def add_object(self, found: SceneObject) -> None:
        """Enter an object that is known from elsewhere; one with the same id is replaced."""
        if found.id in self.state.table.row_of:
            self.state.drop(self.state.table.row(found.id))
        enter_object(self.state, found)
        if self._naming is not None:
            self._naming.touch([found.area_id])
        self.state.version += 1

    def rank_search_areas(self, object_class: str, k: int = 0, now_ns: int | None = None) -> tuple[RankedArea, ...]:
        """Return the areas of the floor that the robot is on where an object of the class is likely, best first; k = 0
        gives all."""
        areas = [area for area in self.places.areas.values() if self.places.here in ("", area.floor_id)]
        now_ns = self.state.now_ns if now_ns is None else now_ns
        kinds = {} if self.habits is None else self.room_kinds()
        return rank_areas(self.state, areas, object_class, now_ns, k, self.embedder, self.habits, kinds)

    def in_words(self, token_budget: int, near: tuple[float, float] | None = None, topic: str = "") -> SceneText:
        """Return the graph in words for a prompt (KARMA's form), nearest and most relevant areas first.

        near: (x, y) in map, by default where the last frame's camera was.
        """
        near = self.robot_at if near is None else near
        return scene_in_words(self.state, self.places, token_budget, near, topic, self.embedder)

    @classmethod
    def from_snapshot(
        cls,
        scene: SceneSnapshot,
        config: SceneGraphConfig | None = None,
        make_id: Callable[[int], str] | None = None,
        embedder: TextEmbedder | None = None,
        catalogue: ObjectCatalogue | None = None,
        last_names: Mapping[str, int] = MappingProxyType({}),
    ) -> SceneGraph:
        """Return a graph that goes on from a stored one; last_names: by word the last number that a name of it had."""
        graph = cls(config, make_id, embedder, catalogue)
        enter_scene(graph.state, graph.places, scene, last_names)
        return graph

    def set_keyframe(self, name: str, map_T_keyframe: Pose) -> None:
        """Note where a keyframe is, before frames name it; else a keyframe lies where its first frame's camera was."""
        self.state.keyframes[name] = map_T_keyframe
        if len(self.state.keyframes) % _KEYFRAMES_BETWEEN_TIDYINGS == 0:
            drop_unused_keyframes(self.state, kept=name)

    def correct_poses(self, corrected: Mapping[str, Pose]) -> list[SceneEvent]:
        """Move what was seen from keyframes whose map_T_keyframe SLAM has corrected; ids stay."""
        rows = correct_keyframes(self.state, corrected)
        self.state.version += 1
        return [self.state.event(SceneEventKind.UPDATED, row) for row in rows]

    def _naming_by(self, embedder: TextEmbedder) -> RoomNaming:
        classifier = RoomClassifier(self.state.catalogue, embedder, self.config.room_cosine_slope)
        return RoomNaming(self.state, self.places, classifier)

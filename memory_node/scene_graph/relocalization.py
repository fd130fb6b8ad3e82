"""The map frame: SLAM corrects earlier poses, or the map has another origin after a restart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from memory_node.domain.geometry import FloatArray, Pose, wrap_angle
from memory_node.domain.observation import Frame
from memory_node.domain.scene import SceneEvent, SceneEventKind
from memory_node.scene_graph.frame_update import FrameUpdate
from memory_node.scene_graph.map_alignment import Alignment, Landmarks, align
from memory_node.scene_graph.places import Places
from memory_node.scene_graph.same_instance import merge_duplicates
from memory_node.scene_graph.state import ROBOT_ID, GraphState, StampIds


def shift_graph(state: GraphState, places: Places, new_T_old: Pose) -> None:
    """Express everything, history included, in a map that `new_T_old` leads to; its rotation is about +z."""
    for row in state.table.rows():
        _move_with_history(state, row, new_T_old)
    state.keyframes = {name: new_T_old @ pose for name, pose in state.keyframes.items()}
    places.moved_by(new_T_old)
    state.version += 1


def correct_keyframes(state: GraphState, corrected: Mapping[str, Pose]) -> list[int]:
    """Move objects with the keyframes that they are anchored to; return the rows that moved.

    corrected: map_T_keyframe after the correction, in the frame that `state.keyframes` holds the poses before it. An
    object seen from several keyframes follows each by its share. Keyframes that the graph does not know are left alone.
    """
    change = {
        name: pose @ state.keyframes[name].inverse() for name, pose in corrected.items() if name in state.keyframes
    }
    moved = []
    for row in list(state.table.rows()):
        anchors = [(name, weight) for name, weight in state.table.record(row).anchors if weight > 0.0]
        total = sum(weight for _, weight in anchors)
        shares = [(change.get(name, Pose()), weight / total) for name, weight in anchors]
        if any(name in change for name, _ in anchors):
            _move_row(state, row, shares)
            moved.append(row)
    for name in change:
        state.keyframes[name] = corrected[name]
    return moved


def drop_unused_keyframes(state: GraphState, kept: str) -> None:
    """Forget the keyframes that nothing is anchored to, but for one: years of driving make millions of them."""
    used = {name for row in state.table.rows() for name, _ in state.table.record(row).anchors} | {kept}
    state.keyframes = {name: pose for name, pose in state.keyframes.items() if name in used}


def _move_with_history(state: GraphState, row: int, transform: Pose) -> None:
    """Move a row and its earlier places."""
    _move_row(state, row, [(transform, 1.0)])
    record = state.table.record(row)
    record.history = tuple(replace(place, box=place.box.moved_by(transform)) for place in record.history)


def _move_row(state: GraphState, row: int, shares: list[tuple[Pose, float]]) -> None:
    """Move a row by the weighted mean of rigid transforms, and enter it where it is now."""
    table = state.table
    old = table.center[row].copy()
    center: FloatArray = np.zeros(3)
    turn_sin, turn_cos = 0.0, 0.0
    for transform, share in shares:
        center += share * transform.apply(old)
        turn_sin += share * np.sin(transform.yaw_rad)
        turn_cos += share * np.cos(transform.yaw_rad)
    table.center[row] = center
    table.yaw[row] = wrap_angle(float(table.yaw[row]) + float(np.arctan2(turn_sin, turn_cos)))
    if not table.removed[row] and row in state.index:
        state.place(row)


# Fixed things at their remembered places that prove an unmoved map, and matches that prove a moved origin. Among these
# matches must be as many fixed things as the first number says, unless fewer are remembered.
_ENOUGH_FIXED, _ENOUGH_AGREED = 3, 4
_LEAST_SHARE = 0.5
# A map closer than this to its old place has not moved; it has moved if the distance is far beyond its uncertainty.
_UNMOVED_M, _UNSURE_M, _SURE_SIGMA = 0.05, 0.05, 3.0
UNMOVED = Pose()
# Frames after which the maps are compared: each of the first ones, then every fifth, then each time that a tenth more
# frames were seen, for one more frame changes ever less.
_EVERY_FRAME_UNTIL, _THEN_EVERY, _THEN_SHARE = 10, 5, 0.1
# On a large site only the nearest remembered things are compared, at most this many.
_MOST_COMPARED = 2000
_AROUND_M = 2.0


class Relocalization:
    """Compares the stored objects with a second graph of what is seen from now on, until the map frame is verified.
    Meanwhile frames also go into the graph, as if the map were the old one. If it turns out to be another one, their
    effects on stored objects are undone.

    Args:
        state, places: the graph, with what is stored.
    """

    def __init__(self, state: GraphState, places: Places) -> None:
        self._state = state
        self._places = places
        self._stored_until = state.now_ns
        self._keyframes = tuple(state.keyframes)
        self._columns, self._rows = state.table.copied_columns(), dict(state.table.row_of)
        self._stored = {one: state.table.record(row).copied() for one, row in self._rows.items()}
        self._landmarks = Landmarks.of(state.table, state.active_rows())
        self._places_then = places.copied()
        self._told: set[str] = set()
        self._seen = GraphState(state.config, StampIds("seen"), catalogue=state.catalogue)
        self._frames = self._compared_next = 0

    def note_told(self, events: Iterable[SceneEvent]) -> None:
        """Note changes by a person or a skill; they are not undone."""
        self._told.update(event.object.id for event in events)

    def compare(self, frame: Frame, weight: float) -> Pose | None:
        """Take in what a frame shows; return now_T_then once enough agrees, UNMOVED where the map is the old one.

        weight: how much the frame's evidence counts.
        """
        self._seen.now_ns = frame.stamp_ns
        FrameUpdate(self._seen, frame, weight).run()
        self._frames += 1
        if self._frames < self._compared_next:
            return None
        pause = 1 if self._frames < _EVERY_FRAME_UNTIL else max(_THEN_EVERY, int(_THEN_SHARE * self._frames))
        self._compared_next = self._frames + pause
        seen = Landmarks.of(self._seen.table, self._seen.active_rows())
        if not len(seen):
            return None
        found = align(self._landmarks.nearest(seen.at.mean(axis=0), _MOST_COMPARED), seen)
        return None if found is None else self._verdict(found)

    def move_stored(self, now_T_then: Pose) -> list[SceneEvent]:
        """Move what is stored, history and places included, into the present map; return what was moved and merged."""
        state, table = self._state, self._state.table
        state.counters["map_shifted"] += 1
        self._move_places(now_T_then)
        for name in state.keyframes.keys() & set(self._keyframes):
            state.keyframes[name] = now_T_then @ state.keyframes[name]
        ids = [object_id for object_id in self._stored if self._is_as_stored(object_id)]
        self._restore_all([object_id for object_id in ids if self._was_seen(object_id)])
        for object_id in ids:
            _move_with_history(state, table.row(object_id), now_T_then)
        merged = self._merge_seen()
        left = [table.row(object_id) for object_id in ids if object_id in table.row_of]
        return [*(state.event(SceneEventKind.MOVED, row) for row in left if not table.removed[row]), *merged]

    def _merge_seen(self) -> list[SceneEvent]:
        """Merge objects that frames entered as new with the moved stored objects in the same place."""
        state, table = self._state, self._state.table
        fresh = state.active_rows()
        fresh = fresh[[table.record(row).id not in self._stored for row in fresh.tolist()]]
        if not fresh.size:
            return []
        low, high = table.center[fresh, :2].min(axis=0) - _AROUND_M, table.center[fresh, :2].max(axis=0) + _AROUND_M
        around = state.index.within((float(low[0]), float(low[1])), (float(high[0]), float(high[1])))
        return merge_duplicates(state, fresh, fresh[:0], around)

    def _verdict(self, found: Alignment) -> Pose | None:
        """Return the transform that an alignment proves, None while it proves none."""
        if found.share < _LEAST_SHARE:
            return None
        if found.moved_m <= _UNMOVED_M:
            return UNMOVED if found.fixed >= _ENOUGH_FIXED and found.sigma_m <= _UNSURE_M else None
        few_fixed = np.count_nonzero(self._landmarks.fixed) < _ENOUGH_AGREED
        proven = found.matches >= _ENOUGH_AGREED and (found.fixed >= _ENOUGH_FIXED or few_fixed)
        return found.now_T_then if proven and found.moved_m > _UNMOVED_M + _SURE_SIGMA * found.sigma_m else None

    def _is_as_stored(self, object_id: str) -> bool:
        """Return whether an object is not in the hand, and nobody has since told where it is, or erased it."""
        table = self._state.table
        if object_id in self._told:
            known = object_id in table.row_of
            return known and int(table.place_since[table.row(object_id)]) <= self._stored_until
        return object_id not in self._state.contents.get(ROBOT_ID, ())

    def _was_seen(self, object_id: str) -> bool:
        """Return whether frames have changed an object since it was stored, or merged it into another."""
        table = self._state.table
        if object_id not in table.row_of:
            return True
        row = table.row(object_id)
        return object_id not in self._told and int(table.last_seen[row]) > self._stored_until

    def _restore_all(self, ids: Sequence[str]) -> None:
        """Undo the effects of frames on these objects, including what each stands on."""
        state, table = self._state, self._state.table
        for object_id in ids:
            self._restore(object_id)
        for object_id in ids:
            kept = self._stored[object_id]
            if kept.support_id in table.row_of:
                state.stand_on(table.row(object_id), kept.support_id, kept.inside)

    def _restore(self, object_id: str) -> None:
        state = self._state
        if object_id in state.table.row_of:
            state.drop(state.table.row(object_id))
        row = state.table.add(self._stored[object_id].copied())
        state.table.set_row(row, self._columns, self._rows[object_id])
        if not state.table.removed[row]:
            state.place(row)

    def _move_places(self, now_T_then: Pose) -> None:
        """Move the stored places, and lay out on them again the maps that have come since."""
        grounds = list(self._places.grounds.values())
        self._places.restore(self._places_then)
        self._places.moved_by(now_T_then)
        for ground in grounds:
            self._places.set_map(ground.map, self._state.now_ns)

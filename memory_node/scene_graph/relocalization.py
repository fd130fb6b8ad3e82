"""After a restart: notices that the map's origin has moved and moves what was stored with it."""

from __future__ import annotations

from memory_node.domain.scene import SceneEvent, SceneEventKind
from memory_node.scene_graph.alignment import Alignment, align
from memory_node.scene_graph.duplicates import merge_duplicates
from memory_node.scene_graph.object_table import Rows
from memory_node.scene_graph.places import Places
from memory_node.scene_graph.pose_correction import move_row
from memory_node.scene_graph.state import GraphState

_TRY_EVERY = 5
_LEAST_SHARE = 0.5


class Relocalization:
    """Compares what was stored up to a stamp with what is seen since then, while the frame is not verified."""

    def __init__(self, state: GraphState, places: Places) -> None:
        self._state = state
        self._places = places
        self._stored_until = state.now_ns
        self._stored_keyframes = tuple(state.keyframes)
        self._frames = 0

    def note_frame(self) -> list[SceneEvent]:
        """Count a frame; every few, look for a moved origin. Returns what was moved and merged because of one."""
        self._frames += 1
        if self._frames % _TRY_EVERY:
            return []
        state, table = self._state, self._state.table
        active = state.active_rows()
        stored = active[(table.last_seen[active] <= self._stored_until)]
        fresh = active[table.first_seen[active] > self._stored_until]
        if not stored.size or not fresh.size:
            return []
        found = align(
            [state.object_at(row) for row in stored.tolist()], [state.object_at(row) for row in fresh.tolist()]
        )
        if found is None or found.share < _LEAST_SHARE:
            return []
        return self._move_stored(stored, found)

    def _move_stored(self, stored: Rows, found: Alignment) -> list[SceneEvent]:
        state = self._state
        state.counters["map_shifted"] += 1
        for row in stored.tolist():
            move_row(state, row, [(found.now_T_then, 1.0)])
        for name in self._stored_keyframes:
            state.keyframes[name] = found.now_T_then @ state.keyframes[name]
        if not self._places.grounds:
            self._places.moved_by(found.now_T_then)
        merged = merge_duplicates(state, stored, stored[:0], state.active_rows())
        left = [row for row in stored.tolist() if state.table.records[row] is not None]
        return [*(state.event(SceneEventKind.MOVED, row) for row in left), *merged]

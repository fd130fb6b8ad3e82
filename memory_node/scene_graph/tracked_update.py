"""Updates the graph from a frame of tracked observations: the name of a track tells which object it is."""

from __future__ import annotations

import math

import numpy as np

from memory_node.domain.scene import SceneEvent, SceneEventKind
from memory_node.domain.states import log_odds
from memory_node.scene_graph.absence import Sight, look_for
from memory_node.scene_graph.frame_update import FrameUpdate
from memory_node.scene_graph.fusion import take_geometry
from memory_node.scene_graph.object_table import Rows
from memory_node.scene_graph.same_instance import merge_rows
from memory_node.scene_graph.support import update_supports


class TrackedUpdate(FrameUpdate):
    """Applies a frame of tracked observations. Each brings the box of all its views, which replaces what is stored.

    An object counts as gone only when rays pass through its place, because geometric segmentation misses many things.
    """

    def run(self) -> list[SceneEvent]:
        """Do it and return what changed."""
        state, table = self._state, self._state.table
        ended = self._end_tracks()
        rows = self._around = self._present(self._neighbourhood())
        row_of = self._rows_of_tracks(rows)
        matched = np.array(sorted(row_of.items()), np.intp).reshape(-1, 2)
        fresh = [obs for obs in range(len(self._observed)) if obs not in row_of]
        sight = look_for(rows, table, self._frame, state.config)
        self._see_through(rows, sight, matched[:, 1])
        touched = [row for obs, row in matched.tolist() if self._follow(obs, row)]
        touched += [self._enter(obs) for obs in fresh]
        changed = np.array(touched, np.intp)
        present = self._present(np.unique(np.concatenate([rows, changed])))
        touched += [row for row in update_supports(state, changed, present) if row not in touched]
        return ended + self._as_at_the_end([row for row in touched if table.records[row] is not None])

    def _end_tracks(self) -> list[SceneEvent]:
        """Merge what is a part of another thing into it, and take out what is no thing."""
        state = self._state
        events = []
        for track, whole in self._frame.ended_tracks:
            part = self._row_of(track)
            state.tracks.pop(track, None)
            if part is None:
                continue
            kept = self._row_of(whole)
            if kept is not None and kept != part:
                events.append(merge_rows(state, kept, part))
            elif kept is None:
                events.append(state.event(SceneEventKind.REMOVED, part))
                state.drop(part)
        return events

    def _row_of(self, track: str) -> int | None:
        return self._state.table.row_of.get(self._state.tracks.get(track, ""))

    def _rows_of_tracks(self, rows: Rows) -> dict[int, int]:
        """Return the row of each observation whose track is known, or that is where something untracked is remembered
        from earlier."""
        state = self._state
        self._forget_other_runs()
        tracked = ((obs, self._row_of(one.track)) for obs, one in enumerate(self._observed.observations))
        row_of = {obs: row for obs, row in tracked if row is not None and not state.table.removed[row]}
        followed = set(state.tracks.values())
        free = [row for row in rows.tolist() if state.table.record(row).id not in followed]
        for obs in range(len(self._observed)):
            row = None if obs in row_of else self._same_place(obs, [row for row in free if row not in row_of.values()])
            if row is not None:
                row_of[obs] = row
                state.tracks[self._observed.observations[obs].track] = state.table.record(row).id
        return row_of

    def _forget_other_runs(self) -> None:
        """Forget the tracks of a tracker that was restarted; their objects stay and can be matched again."""
        tracks = self._state.tracks
        runs = {_run_of(observation.track) for observation in self._observed.observations}
        for track in [track for track in tracks if runs and _run_of(track) not in runs]:
            del tracks[track]

    def _same_place(self, obs: int, rows: list[int]) -> int | None:
        """Return the row whose box an observation fills best, None where none is filled enough."""
        if not rows:
            return None
        state, observed, at = self._state, self._observed, np.array(rows, np.intp)
        one = np.full(len(rows), obs)
        table = state.table
        pairs = observed.overlap_with(table, one, at, state.config.min_thickness_m)
        best = int(np.argmax(pairs.iou))
        return rows[best] if pairs.iou[best] >= state.config.min_overlap else None

    def _follow(self, obs: int, row: int) -> bool:
        """Let a row be what its track is now; return whether it still is in the table."""
        table, views = self._state.table, self._observed.observations[obs].views
        if table.records[row] is None:
            return False
        take_geometry(self._observed, obs, table, row, self._state.config)
        self._believe(np.array([row]))
        table.times_seen[row] = max(int(table.times_seen[row]), views)
        self._take_view(obs, row, 1.0)
        return True

    def _enter(self, obs: int) -> int:
        """Take in a thing that several views have shown by now; return its row."""
        state, observation = self._state, self._observed.observations[obs]
        row = self._add(obs)
        state.tracks[observation.track] = state.table.record(row).id
        state.table.log_odds[row] = log_odds(state.config.start_existence)
        state.table.times_seen[row] = max(int(state.table.times_seen[row]), observation.views)
        return row

    def _see_through(self, rows: Rows, sight: Sight, seen: Rows) -> None:
        table, config = self._state.table, self._state.config
        if not rows.size or not self._absence_counts:
            return
        passed = sight.in_view & ~np.isin(rows, seen) & ~table.sheltered[rows] & (sight.clear >= 0.6)
        passed &= sight.through - table.porosity[rows] >= 0.5
        gone = rows[passed]
        table.log_odds[gone] += self._weight * math.log(config.through_likelihood_ratio)
        table.note_missed(gone, self._frame.stamp_ns)
        limit = log_odds(config.removed_existence)
        for row in gone[table.log_odds[gone] < limit].tolist():
            self._remove(row)


def _run_of(track: str) -> str:
    """Return who follows a track: what stands before the slash of its name."""
    return track.partition("/")[0]

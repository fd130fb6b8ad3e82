"""One frame's way into the graph: associate, fuse, look for what is missing, tell moved from new, relate."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from memory_node.domain.observation import Frame, ObjectObservation
from memory_node.domain.scene import SceneEvent, SceneEventKind
from memory_node.domain.states import log_odds
from memory_node.scene_graph.absence import Sight, look_for, missing_evidence, view_bounds
from memory_node.scene_graph.association import Association, associate, divide
from memory_node.scene_graph.carrying import follow_drawers
from memory_node.scene_graph.fusion import first_log_odds, fuse_geometry, fuse_label, take_geometry
from memory_node.scene_graph.object_table import ObjectRecord, Rows
from memory_node.scene_graph.observed import Boxes, Observed
from memory_node.scene_graph.same_instance import (
    best_same_instance,
    go_on_at,
    join_pieces,
    lose,
    merge_duplicates,
    pieces_at,
    pieces_class,
    turn_into_pieces,
)
from memory_node.scene_graph.state import ROBOT_ID, GraphState
from memory_node.scene_graph.support import update_supports

_RIVAL_SIGHTINGS = 3
# After this time without a look a thing may have been exchanged; one sighting less is then enough.
_LOOKED_AWAY_S = 10.0
# Sightings from which an object is doubted less when it is seen as one with another thing.
_DOUBTED_SIGHTINGS = 5.0
# Events that show a thing as it is after them.
_AFTER = frozenset({SceneEventKind.APPEARED, SceneEventKind.UPDATED, SceneEventKind.MOVED})


class FrameUpdate:
    """Applies one frame to a graph's state; used once. `weight` scales its evidence on existence: a camera that stands
    still repeats its errors, so only a new view counts in full."""

    def __init__(self, state: GraphState, frame: Frame, weight: float, absence_counts: bool = True) -> None:
        self._state = state
        self._frame = frame
        self._weight = weight
        self._absence_counts = absence_counts
        self._observed = Observed.of(frame, state.config, state.sizes)
        self._events: list[SceneEvent] = []
        self._replaced: list[int] = []
        self._around: Rows = np.zeros(0, dtype=np.intp)
        self._joined: Rows = np.zeros(0, np.intp)
        self._split_from: dict[int, str] = {}
        self._shown: dict[int, int] = {}  # row -> its observation
        self._eye = (float(frame.map_T_camera.position[0]), float(frame.map_T_camera.position[1]))

    def run(self) -> list[SceneEvent]:
        """Do it and return what changed."""
        state, table = self._state, self._state.table
        rows = self._around = self._neighbourhood()
        follow_drawers(state, self._observed, rows)
        found = self._divide(associate(self._observed, table, rows, state.config, state.sizes), rows)
        sight = look_for(rows, table, self._frame, state.config)
        # Missing objects come first: one that is gone here may be the one that appears elsewhere in the same frame.
        self._miss(rows, sight, found)
        touched = self._refine(rows, sight, found)
        touched += self._admit(found, rows)
        changed = np.array(touched, dtype=np.intp)
        present = self._present(np.unique(np.concatenate([rows, changed])))
        touched += [row for row in update_supports(state, changed, present) if row not in touched]
        merged = merge_duplicates(state, changed, found.matched[:, 1], present, self._shown_boxes)
        gone = {event.object.id for event in merged}
        return self._as_at_the_end([row for row in touched if table.records[row] is not None], gone) + merged

    def _as_at_the_end(self, touched: Sequence[int], gone: Collection[str] = ()) -> list[SceneEvent]:
        """Return the events of the frame with things as they are at its end, one UPDATED for other touched rows, too.

        An event is made before the supports are found: what appears in a drawer would be kept as standing nowhere.
        gone: ids of things that have been merged into others since.
        """
        state, row_of = self._state, self._state.table.row_of
        events = [
            replace(event, object=state.object_at(row_of[event.object.id]))
            if event.kind in _AFTER and event.object.id in row_of
            else event
            for event in self._events
        ]
        told = {event.object.id for event in events} | set(gone)
        rows = [row for row in touched if state.table.record(row).id not in told]
        covariances = state.table.covariances(np.array(rows, np.intp))
        return events + [
            SceneEvent(SceneEventKind.UPDATED, state.now_ns, state.object_at(row, covariance))
            for row, covariance in zip(rows, covariances)
        ]

    def _neighbourhood(self) -> Rows:
        low, high = view_bounds(self._frame, self._state.config.evidence_range_m)
        center = self._observed.center
        if len(center):
            low = (min(low[0], float(center[:, 0].min())), min(low[1], float(center[:, 1].min())))
            high = (max(high[0], float(center[:, 0].max())), max(high[1], float(center[:, 1].max())))
        return self._state.index.within((low[0] - 1.0, low[1] - 1.0), (high[0] + 1.0, high[1] + 1.0))

    def _divide(self, found: Association, rows: Rows) -> Association:
        """Split what was one box around several things, and keep what is seen as one and is several."""
        state = self._state
        division = divide(self._observed, found, state, rows, self._weight)
        self._joined = division.joined
        self._split_from = {obs: state.table.record(row).id for obs, row in division.split.tolist()}
        observation_of = {row: obs for obs, row in division.found.matched.tolist()}
        for row in sorted(set(division.split[:, 1].tolist())):
            state.end_place(row)
            take_geometry(self._observed, observation_of[row], state.table, row, state.config)
        return division.found

    def _present(self, rows: Rows) -> Rows:
        table = self._state.table
        return rows[table.alive[rows] & ~table.removed[rows]]

    def _miss(self, rows: Rows, sight: Sight, found: Association) -> None:
        """Lower the probability of objects that should be in view and are not; remove those that fall below the
        threshold."""
        table, config = self._state.table, self._state.config
        if not rows.size or not self._absence_counts:
            return
        evidence = missing_evidence(self._state, self._frame, self._observed, rows, sight, found)
        missed = evidence < 0.0
        table.log_odds[rows] += self._weight * evidence
        table.note_missed(rows[missed], self._frame.stamp_ns)
        doubt = np.minimum(1.0, _DOUBTED_SIGHTINGS / np.maximum(table.times_seen[self._joined], 1))
        table.log_odds[self._joined] += self._weight * math.log(config.miss_likelihood_ratio) * doubt
        limit = log_odds(config.removed_existence)
        doubted = missed | table.among(self._joined)[rows]
        for row in rows[doubted & (table.log_odds[rows] < limit)].tolist():
            # An earlier row of this loop may have been merged with this one.
            if table.alive[row]:
                self._remove(row)

    def _remove(self, row: int) -> None:
        self._events += lose(self._state, row, self._frame.stamp_ns)

    def _refine(self, rows: Rows, sight: Sight, found: Association) -> list[int]:
        table, config = self._state.table, self._state.config
        kept = [i for i, pair in enumerate(found.matched.tolist()) if self._is_still(*pair)]
        which, matched = found.matched[kept, 0], found.matched[kept, 1]
        if not matched.size:
            return []
        shares = fuse_geometry(self._observed, which, table, matched, config).tolist()
        self._believe(matched)
        at = np.searchsorted(rows, matched)
        open_share = np.where(sight.in_view[at], sight.through[at], table.porosity[matched])
        table.porosity[matched] += 0.3 * (open_share - table.porosity[matched])
        pairs = which.tolist(), matched.tolist()
        for obs, row, share in zip(*pairs, shares):
            self._take_view(obs, row, share)
        shown = {self._known_by_another_name(row, obs, rows, found): obs for obs, row in zip(*pairs)}
        self._shown |= shown
        return list(shown)

    def _believe(self, rows: Rows) -> None:
        """Raise the probability of rows that were seen."""
        table, config = self._state.table, self._state.config
        gain = math.log(config.detection_probability / config.clutter_probability)
        most = log_odds(config.max_existence)
        table.log_odds[rows] = np.minimum(table.log_odds[rows] + self._weight * gain, most)
        table.note_seen(rows, self._frame.stamp_ns)
        table.times_seen[rows] += 1

    def _take_view(self, obs: int, row: int, share: float) -> None:
        """Take over an observation's label, and enter its row where it is now; share: see `note_anchor`."""
        self._label(row, self._observed.observations[obs])
        self._state.table.record(row).note_anchor(self._frame.keyframe, share)
        self._state.place(row)
        self._state.locate(row, self._eye)

    def _known_by_another_name(self, row: int, obs: int, rows: Rows, found: Association) -> int:
        """Return the row to use for a matched row: a new object with a corrected label may be a missing object of that
        class."""
        table = self._state.table
        record = table.record(row)
        young = table.times_seen[row] <= self._state.config.confirmed_sightings and record.provenance == "camera"
        if not young or len(record.classes) < 2:
            return row
        missing = self._missing_like(record.best_class, self._observed.observations[obs], rows, found)
        if missing is None:
            return row
        self._events += go_on_at(self._state, missing, row)
        return missing

    def _is_still(self, obs: int, row: int) -> bool:
        """Return whether a matched row still is the same thing; if not, remove it. One different label is an error of
        the detector. The same different label several times in a row shows another thing, which was put in its place.
        """
        state = self._state
        record = state.table.records[row]
        if record is None:
            return False
        name = self._observed.observations[obs].best_class
        if name in ("object", record.best_class) or record.best_class == "object" or record.provenance == "user":
            record.rival, record.rival_count = "", 0
            return True
        away_s = (self._frame.stamp_ns - int(state.table.last_seen[row])) * 1e-9
        first = 2 if away_s > _LOOKED_AWAY_S else 1
        record.rival_count = record.rival_count + 1 if record.rival == name else first
        record.rival = name
        if record.rival_count < _RIVAL_SIGHTINGS:
            return True
        if name == pieces_class(state, row):
            turn_into_pieces(state, row, pieces_at(state, row))
            return True
        self._replaced.append(obs)
        self._remove(row)
        return False

    def _label(self, row: int, observation: ObjectObservation) -> None:
        record = self._state.table.record(row)
        fuse_label(self._state.table, row, observation, self._state.sizes)
        said = {"name": observation.name, "description": observation.description}
        if any(said.values()):
            record.attributes = {**(record.attributes or {}), **{key: text for key, text in said.items() if text}}
        if self._state.table.times_seen[row] == self._state.config.confirmed_sightings:
            self._state.learn_size(row)
        record.movable = self._state.may_move(record.best_class)
        if observation.states:
            self._state.refresh_shelter(record.id)

    def _admit(self, found: Association, rows: Rows) -> list[int]:
        """Take in what is not known here: something known that went missing elsewhere, or something new."""
        touched = []
        table = self._state.table
        orphans = [obs for obs, row in found.parts.tolist() if not table.alive[row] or table.removed[row]]
        for obs in [*found.fresh.tolist(), *orphans, *self._replaced]:
            observation = self._observed.observations[obs]
            row = self._missing_like(observation.best_class, observation, rows, found)
            if row is None:
                row = self._add(obs)
            else:
                self._move(obs, row)
            self._shown[row] = obs
            touched.append(row)
        self._state.counters["parts"] += len(found.parts) - len(orphans)
        return touched

    def _shown_boxes(self, rows: Rows) -> Boxes:
        """Return the boxes of rows as this frame shows them, and as they are remembered where it does not."""
        boxes = Boxes.of(self._state.table, rows)
        shown = [(number, self._shown[row]) for number, row in enumerate(rows.tolist()) if row in self._shown]
        numbers, seen = np.array(shown, np.intp).reshape(-1, 2).T
        for column, as_seen in zip(boxes, Boxes.of(self._observed, seen)):
            column[numbers] = as_seen
        return boxes

    def _missing_like(self, name: str, observation: ObjectObservation, rows: Rows, found: Association) -> int | None:
        state, table = self._state, self._state.table
        if observation.truncated or self._is_in_hand(name):
            return None
        near = self._present(rows)
        doubtful = near[(table.log_odds[near] < 0.0) & ~table.among(found.matched[:, 1])[near]]
        confirmed = doubtful[table.times_seen[doubtful] >= state.config.confirmed_sightings]
        candidates = np.concatenate([confirmed, np.flatnonzero(table.alive & table.removed)])
        box = observation.box
        return best_same_instance(table, candidates, name, box.center, box.size, observation.embedding, state.config)

    def _is_in_hand(self, best_class: str) -> bool:
        """Return whether the robot holds such a thing. An observation is then probably the thing that it just put down,
        not one that was missing before; the skill's report will say."""
        table = self._state.table
        return any(table.record(row).best_class == best_class for row in self._state.load_of(ROBOT_ID))

    def _add(self, obs: int) -> int:
        state, table, stamp = self._state, self._state.table, self._frame.stamp_ns
        observation = self._observed.observations[obs]
        record = ObjectRecord(state.make_id(stamp), {}, observation.best_class)
        record.provenance = observation.source
        if not observation.class_scores:
            record.classes["object"] = state.config.class_smoothing
        row = table.add(record)
        if obs in self._split_from:
            self._part_from(self._split_from[obs], row)
        table.first_seen[row] = table.place_since[row] = stamp
        self._settle(obs, row)
        join_pieces(state, row)
        self._events.append(state.event(SceneEventKind.APPEARED, row))
        return row

    def _part_from(self, object_id: str, row: int) -> None:
        """Note from which object a new row was split, and count the views that showed both for each of them."""
        state = self._state
        state.table.record(row).attributes = {"split_from": object_id}
        state.table.times_seen[row] = math.ceil(state.config.split_views) - 1
        state.set_apart(row, state.table.row(object_id))

    def _move(self, obs: int, row: int) -> None:
        state = self._state
        if not state.table.removed[row]:
            state.end_place(row)
        state.table.place_since[row] = self._frame.stamp_ns
        state.mark_present(row)
        self._settle(obs, row)
        self._events.append(state.event(SceneEventKind.MOVED, row))

    def _settle(self, obs: int, row: int) -> None:
        state, table = self._state, self._state.table
        take_geometry(self._observed, obs, table, row, state.config)
        others = self._present(self._around[self._around != row])
        table.log_odds[row] = first_log_odds(state, self._observed, obs, others, again=obs in self._replaced)
        table.note_seen(row, self._frame.stamp_ns)
        table.times_seen[row] += 1
        table.porosity[row] = 0.0
        self._take_view(obs, row, 1.0)

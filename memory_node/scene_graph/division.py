"""Splits an object that was repeatedly seen as several things; keeps two objects that are seen as one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memory_node.scene_graph.association import Association, class_agreement
from memory_node.scene_graph.box_overlap import BoxPairs, overlap
from memory_node.scene_graph.object_table import ObjectTable, Rows
from memory_node.scene_graph.observed import Observed
from memory_node.scene_graph.state import GraphState

_SAME_CLASS = 0.5
# Several boxes make up one box when, in this order: each lies in it by at least this share; no two overlap by more than
# this share; each is smaller than it by this factor; their volumes differ by at most this factor; together they fill a
# share of it within these bounds.
_INSIDE = 0.7
_BESIDE = 0.2
_SMALLER = 0.8
_LIKE_SIZED = 3.0
_FILLED = (0.4, 1.2)


@dataclass(frozen=True, eq=False)
class Division:
    """found: the association, where a view of several things as one, and of one thing as several, is a part that
    refines no box. split: (k, 2) observation of a separate thing, and the row that contained it so far. joined: rows
    that were seen as one with an older row."""

    found: Association
    split: NDArray[np.intp]
    joined: Rows


def divide(observed: Observed, found: Association, state: GraphState, rows: Rows, weight: float) -> Division:
    """Find objects that are several things, and objects that are seen as one; weight: of the frame's evidence. An
    object is split when the views that show several similar things in its box outnumber the views that show it whole by
    `split_views`.
    """
    joint = _joint_views(observed, found, state, rows)
    apart = _apart_views(observed, found, state)
    matched: dict[int, int] = dict(found.matched.tolist())
    parts = {(obs, row) for obs, row in found.parts.tolist() if obs not in joint}
    split: list[tuple[int, int]] = []
    joined: list[int] = []
    for row, several in apart.items():
        _take(matched, parts, several)
        if _seen_apart(state, row, weight):
            matched[several[0]] = row
            split += [(obs, row) for obs in several[1:]]
        else:
            parts.update((obs, row) for obs in several)
    for obs, several in joint.items():
        _take(matched, parts, [obs])
        parts.update((obs, row) for row in several)
        joined += sorted(several, key=lambda row: (state.table.first_seen[row], row))[1:]
    for row in matched.values():
        _seen_whole(state, row, weight)
    taken = {*matched, *(obs for obs, _ in parts)}
    fresh = np.array([obs for obs in range(len(observed)) if obs not in taken], np.intp)
    regrouped = Association(_pairs(matched.items()), fresh, _pairs(parts))
    return Division(regrouped, _pairs(split), np.array(joined, np.intp))


def _take(matched: dict[int, int], parts: set[tuple[int, int]], several: list[int]) -> None:
    for obs in several:
        matched.pop(obs, None)
    parts -= {pair for pair in parts if pair[0] in several}


def _pairs(pairs: Iterable[tuple[int, int]]) -> NDArray[np.intp]:
    return np.array(sorted(pairs), dtype=np.intp).reshape(-1, 2)


def _seen_apart(state: GraphState, row: int, weight: float) -> bool:
    """Count a view of an object as several; return whether that is enough to split it."""
    object_id = state.table.record(row).id
    views = state.seen_apart.pop(object_id, 0.0) + weight
    if views >= state.config.split_views:
        return True
    state.seen_apart[object_id] = views
    return False


def _seen_whole(state: GraphState, row: int, weight: float) -> None:
    """Count a view of an object as one against those that showed it as several."""
    if not state.seen_apart:
        return
    object_id = state.table.record(row).id
    views = state.seen_apart.pop(object_id, 0.0) - weight
    if views > 0.0:
        state.seen_apart[object_id] = views


def _joint_views(observed: Observed, found: Association, state: GraphState, rows: Rows) -> dict[int, list[int]]:
    """Return the observations that show several known things of their class as one, with the rows of these."""
    table = state.table
    if not len(observed):
        return {}
    known = rows[table.times_seen[rows] >= state.config.confirmed_sightings]
    shift = table.center[known][None] - observed.center[:, None]
    cos, sin = np.cos(observed.yaw)[:, None], np.sin(observed.yaw)[:, None]
    local = np.stack([cos * shift[..., 0] + sin * shift[..., 1], cos * shift[..., 1] - sin * shift[..., 0]], axis=-1)
    inside = (np.abs(local) < 0.5 * observed.size[:, None, :2]).all(axis=-1)
    inside &= np.abs(shift[..., 2]) < 0.5 * observed.size[:, None, 2]
    views = {}
    for obs in np.flatnonzero(inside.sum(axis=1) >= 2).tolist():
        elsewhere = found.matched[found.matched[:, 0] != obs, 1]
        several = [row for row in known[inside[obs]].tolist() if row not in elsewhere]
        several = [row for row in several if _may_be_whole(observed, obs, state, row, table.size[row])]
        if _make_up_one(_Boxes.of(table, several), _Boxes.of(observed, [obs]), state.config.min_thickness_m):
            views[obs] = several
    return views


def _apart_views(observed: Observed, found: Association, state: GraphState) -> dict[int, list[int]]:
    """Return the rows whose box several like things fill, with the observations of these, the best match first."""
    first = {int(row): int(obs) for obs, row in found.matched}
    sharing: dict[int, list[int]] = {}
    for obs, row in found.parts.tolist():
        sharing.setdefault(row, [first[row]] if row in first else []).append(obs)
    views = {}
    for row, several in sharing.items():
        if len(several) < 2 or observed.truncated[several].any():
            continue
        whole = all(_may_be_whole(observed, obs, state, row, observed.size[obs]) for obs in several)
        one = _Boxes.of(state.table, [row])
        if whole and _make_up_one(_Boxes.of(observed, several), one, state.config.min_thickness_m):
            views[row] = several
    return views


class _Boxes(NamedTuple):
    """n boxes: centers and sizes (n, 3) in m, yaws (n,)."""

    center: NDArray[np.float64]
    size: NDArray[np.float64]
    yaw: NDArray[np.floating]

    @classmethod
    def of(cls, columns: Observed | ObjectTable | _Boxes, which: Sequence[int] | Rows) -> _Boxes:
        at = np.asarray(which, dtype=np.intp)
        return cls(columns.center[at], columns.size[at], columns.yaw[at])

    def overlap(self, other: _Boxes, min_side_m: float) -> BoxPairs:
        return overlap(self.center, self.size, self.yaw, other.center, other.size, other.yaw, min_side_m)


def _make_up_one(parts: _Boxes, one: _Boxes, min_side_m: float) -> bool:
    """Return whether boxes of like volumes lie side by side in one and fill it."""
    count = len(parts.yaw)
    if count < 2:
        return False
    within = parts.overlap(_Boxes.of(one, np.zeros(count, np.intp)), min_side_m)
    volume, whole = (np.maximum(size, min_side_m).prod(axis=1) for size in (within.size_a, within.size_b))
    share = volume / whole
    if volume.max() > _LIKE_SIZED * volume.min() or (within.containment < _INSIDE).any() or (share > _SMALLER).any():
        return False
    first, second = np.triu_indices(count, 1)
    beside = _Boxes.of(parts, first).overlap(_Boxes.of(parts, second), min_side_m)
    return bool((beside.containment < _BESIDE).all()) and _FILLED[0] <= float(share.sum()) <= _FILLED[1]


def _may_be_whole(observed: Observed, obs: int, state: GraphState, row: int, size: NDArray[np.float64]) -> bool:
    """Return whether an observation and an object may be of one class, and a thing of that size (3,) a whole one."""
    record = state.table.record(row)
    agreement = class_agreement(observed.observations[obs].class_scores, record)
    return agreement >= _SAME_CLASS and state.sizes.may_be(record.best_class, size)

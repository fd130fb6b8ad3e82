"""Merges two entries for one thing, and keeps two things that stand side by side."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.geometry import FloatArray
from memory_node.domain.scene import SceneEvent, SceneEventKind
from memory_node.domain.states import StateBelief, with_state
from memory_node.scene_graph.box_overlap import overlap, overlap_aligned, share_inside
from memory_node.scene_graph.object_table import ObjectRecord, Rows
from memory_node.scene_graph.state import GraphState

_MOST_ALIASES = 8  # names of merged entries that are kept
_PART_GAP_M = 0.05
# Share of the smaller of two boxes, each at least so thick (m), in the other from which they share their space.
_SHARED, _FLAT_M = 0.25, 0.005


Boxes = tuple[FloatArray, FloatArray, NDArray[np.floating[Any]]]  # centers (n, 3), sizes (n, 3), yaws (n,)


def merge_duplicates(
    state: GraphState, touched: Rows, matched: Rows, neighbours: Rows, shown: Callable[[Rows], Boxes] | None = None
) -> list[SceneEvent]:
    """Merge entries of `touched`, which this frame saw, with those of `neighbours` that are the same thing.

    matched: the touched ones that were known before. shown: gives the boxes of rows in one frame, None: as they are
    remembered. Two that were seen in one frame are two things, unless a new one lies in the place of a known one of its
    class, and in it as this frame shows both, with one error: then one thing was reported twice.
    """
    table = state.table
    if not touched.size or neighbours.size < 2:
        return []
    a, b = _close_pairs(state, touched, neighbours)
    if not a.size:
        return []
    is_matched = table.among(matched)
    known, at_once = is_matched[a], table.among(touched)[b]
    same = _look_like_one(state, a, b)
    two = at_once & (~same | (known & is_matched[b]))
    unsure = np.flatnonzero(at_once & ~two)
    shown = shown or (lambda rows: (table.center[rows], table.size[rows], table.yaw[rows]))
    two[unsure] = ~_share_space(shown(a[unsure]), shown(b[unsure]))
    for i in unsure[~two[unsure]].tolist():
        two[i] = not same_class(state, int(a[i]), int(b[i]))
    for one, other in zip(a[two & (a < b)].tolist(), b[two & (a < b)].tolist()):
        state.set_apart(one, other)
    misnamed = same & known & ~at_once & _unconfirmed(state, b) & (table.times_seen[a] > table.times_seen[b])
    events = []
    gone: set[int] = set()
    for i in np.flatnonzero(~two & (same | _is_part(state, a, b))).tolist():
        one, other = int(a[i]), int(b[i])
        if one in gone or other in gone or state.are_apart(one, other):
            continue
        if misnamed[i] or same_class(state, one, other):
            kept, ended = (one, other) if _older(state, one, other) else (other, one)
            events.append(merge_rows(state, kept, ended))
            gone.add(ended)
    return events


def _close_pairs(state: GraphState, touched: Rows, neighbours: Rows) -> tuple[Rows, Rows]:
    table = state.table
    reach = 0.5 * (table.size[touched, None] + table.size[neighbours]).max(axis=2) + _PART_GAP_M
    close = touched[:, None] != neighbours
    for axis in range(3):
        close &= np.abs(table.center[touched, axis, None] - table.center[neighbours, axis]) < reach
    first, second = close.nonzero()
    return touched[first], neighbours[second]


def _unconfirmed(state: GraphState, rows: Rows) -> NDArray[np.bool_]:
    """Return which rows were seen so seldom that a wrong name explains them, if another object is matched in their
    place."""
    seldom = state.table.times_seen[rows] < state.config.confirmed_sightings
    seldom[seldom] = [state.table.record(row).provenance == "camera" for row in rows[seldom].tolist()]
    return np.asarray(seldom)


def _look_like_one(state: GraphState, a: Rows, b: Rows) -> NDArray[np.bool_]:
    """Return which pairs of rows (p,) overlap too much to be two things, or are parts of one thing that a nearer thing
    divides."""
    table, config = state.table, state.config
    margin = config.min_thickness_m
    pairs = overlap(table.center[a], table.size[a], table.yaw[a], table.center[b], table.size[b], table.yaw[b], margin)
    ratio = (pairs.size_a + 0.02).prod(axis=1) / (pairs.size_b + 0.02).prod(axis=1)
    same = (pairs.iou > 0.35) | ((pairs.containment > 0.7) & (ratio > 0.25) & (ratio < 4.0))
    # No thing is in another one that is called the same, unless both were seen in one frame.
    called_alike = table.class_code[a] == table.class_code[b]
    same |= called_alike & (pairs.containment > 0.5)
    # The yaw of a thing seen in part is uncertain: thin boxes around one centre may cross.
    smaller = np.minimum(np.linalg.norm(pairs.size_a, axis=1), np.linalg.norm(pairs.size_b, axis=1))
    level = np.abs(pairs.offset[:, 2]) < 0.5 * (pairs.size_a + pairs.size_b)[:, 2] + margin
    same |= level & (np.linalg.norm(pairs.offset, axis=1) < 0.25 * smaller)
    # Two parts of things never seen whole that lie side by side and were never in one frame are one thing with a hidden
    # middle.
    partial = table.mostly_truncated(a) & table.mostly_truncated(b)
    widened = overlap_aligned(pairs.offset, pairs.size_a, pairs.size_b + 2.0 * _PART_GAP_M, margin)
    return np.asarray(same | (partial & called_alike & (widened > 0.3)))


def _share_space(a: Boxes, b: Boxes) -> NDArray[np.bool_]:
    """Return which pairs of boxes lie in each other: what was reported twice does, and like things that lie side by
    side or on each other do not."""
    return np.asarray(overlap(*a, *b, _FLAT_M).containment > _SHARED)


def _is_part(state: GraphState, a: Rows, b: Rows) -> NDArray[np.bool_]:
    """Return which pairs of rows (p,) are a thing and a part of it: one of them was only ever seen in part and lies,
    but for the errors between views from several sides, in the other one of its class."""
    table, margin = state.table, state.config.min_thickness_m
    partial = table.mostly_truncated(a)
    i, j = np.where(partial, a, b), np.where(partial, b, a)
    pairs = overlap(table.center[i], table.size[i], table.yaw[i], table.center[j], table.size[j], table.yaw[j], margin)
    inside = share_inside(pairs.offset, pairs.size_a, pairs.size_b + 2.0 * _PART_GAP_M, margin)
    mixed = partial != table.mostly_truncated(b)
    return np.asarray(mixed & (table.class_code[a] == table.class_code[b]) & (inside > 0.7))


def merge_rows(state: GraphState, kept: int, ended: int) -> SceneEvent:
    """Merge one entry into another; the better known of the two boxes stays, and of each state what was known last."""
    table = state.table
    event = state.event(SceneEventKind.MERGED, ended, table.record(kept).id)
    keeper, leaver = table.record(kept), table.record(ended)
    if table.times_seen[ended] > table.times_seen[kept]:
        for column in (table.center, table.size, table.yaw, table.yaw_weight, table.face_variance, table.porosity):
            column[kept] = column[ended]
    for name, weight in leaver.classes.items():
        keeper.classes[name] = keeper.classes.get(name, 0.0) + weight
    table.set_class(kept, max(keeper.classes, key=lambda name: keeper.classes[name]))
    table.log_odds[kept] = max(table.log_odds[kept], table.log_odds[ended])
    table.first_seen[kept] = min(table.first_seen[kept], table.first_seen[ended])
    table.last_seen[kept] = max(table.last_seen[kept], table.last_seen[ended])
    if table.last_seen[kept] >= table.last_missed[kept]:
        table.last_missed[kept] = table.times_missed[kept] = 0
    table.times_seen[kept] += table.times_seen[ended]
    states: tuple[StateBelief, ...] = ()
    for belief in sorted((*keeper.states, *leaver.states), key=lambda one: one.confirmed_ns):
        states = with_state(states, belief)
    table.set_states(kept, states)
    if leaver.crop_pixels > keeper.crop_pixels:
        keeper.crop_jpeg, keeper.crop_pixels = leaver.crop_jpeg, leaver.crop_pixels
    if keeper.embedding is None:
        keeper.embedding = leaver.embedding
    for child in sorted(state.contents.get(leaver.id, ())):
        row = table.row(child)
        if row != kept:
            state.stand_on(row, keeper.id, table.record(row).inside)
    state.drop(ended)
    _take_names(state, keeper, leaver)
    if not table.removed[kept]:
        state.place(kept)
    state.counters["merged"] += 1
    return event


def _take_names(state: GraphState, keeper: ObjectRecord, leaver: ObjectRecord) -> None:
    """Let the names of an entry stand for the one that it was merged into, which keeps its own."""
    others = (*keeper.aliases, leaver.name, *leaver.aliases)
    keeper.aliases = tuple(dict.fromkeys(one for one in others if one != keeper.name))[-_MOST_ALIASES:]
    state.table.names.take(keeper.id, keeper.aliases)


def same_class(state: GraphState, one: int, other: int) -> bool:
    """Return whether two entries may be of one class: the same best guess, one unnamed, or distributions that
    overlap."""
    a, b = state.table.record(one), state.table.record(other)
    if a.best_class == b.best_class or "object" in (a.best_class, b.best_class):
        return True
    total_a, total_b = sum(a.classes.values()), sum(b.classes.values())
    shared = sum(min(w / total_a, b.classes.get(name, 0.0) / total_b) for name, w in a.classes.items())
    return shared > 0.2


def _older(state: GraphState, one: int, other: int) -> bool:
    table = state.table
    return (table.first_seen[one], one) <= (table.first_seen[other], other)

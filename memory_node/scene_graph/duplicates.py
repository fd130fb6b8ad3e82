"""Two entries for one thing become one; two things side by side stay two."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.scene import SceneEvent, SceneEventKind
from memory_node.scene_graph.box_overlap import overlap, overlap_aligned
from memory_node.scene_graph.object_table import Rows
from memory_node.scene_graph.state import GraphState

_PART_GAP_M = 0.05


def merge_duplicates(state: GraphState, touched: Rows, matched: Rows, neighbours: Rows) -> list[SceneEvent]:
    """Merge entries of `touched` with overlapping ones of `neighbours`; two that were seen in one frame are two
    things."""
    table = state.table
    if not touched.size or neighbours.size < 2:
        return []
    first, second = np.meshgrid(touched, neighbours, indexing="ij")
    a, b = first.ravel(), second.ravel()
    reach = 0.5 * (table.size[a] + table.size[b]).max(axis=1) + _PART_GAP_M
    close = (np.abs(table.center[a] - table.center[b]).max(axis=1) < reach) & (a != b)
    a, b = a[close], b[close]
    both = np.isin(a, matched) & np.isin(b, matched)
    for one, other in zip(a[both & (a < b)].tolist(), b[both & (a < b)].tolist()):
        state.set_apart(one, other)
    a, b = a[~both], b[~both]
    if not a.size:
        return []
    same = _look_like_one(state, a, b)
    events = []
    gone: set[int] = set()
    for one, other in zip(a[same].tolist(), b[same].tolist()):
        if one in gone or other in gone or state.are_apart(one, other) or not same_class(state, one, other):
            continue
        kept, ended = (one, other) if _older(state, one, other) else (other, one)
        events.append(merge_rows(state, kept, ended))
        gone.add(ended)
    return events


def _look_like_one(state: GraphState, a: Rows, b: Rows) -> NDArray[np.bool_]:
    """Return which pairs of rows (p,) overlap as only one thing does, or are parts of one that something else
    divides."""
    table, config = state.table, state.config
    margin = config.min_thickness_m
    pairs = overlap(table.center[a], table.size[a], table.yaw[a], table.center[b], table.size[b], table.yaw[b], margin)
    ratio = (pairs.size_a + 0.02).prod(axis=1) / (pairs.size_b + 0.02).prod(axis=1)
    same = (pairs.iou > 0.35) | ((pairs.containment > 0.7) & (ratio > 0.25) & (ratio < 4.0))
    # The yaw of a thing seen in part is uncertain: thin boxes around one centre may cross.
    smaller = np.minimum(np.linalg.norm(pairs.size_a, axis=1), np.linalg.norm(pairs.size_b, axis=1))
    same |= np.linalg.norm(pairs.offset, axis=1) < 0.25 * smaller
    # Of things never seen whole, what lies next to each other and was never in one frame is one, with its middle
    # hidden.
    partial = table.mostly_truncated(a) & table.mostly_truncated(b)
    widened = overlap_aligned(pairs.offset, pairs.size_a, pairs.size_b + 2.0 * _PART_GAP_M, margin)
    named = np.array([table.record(i).best_class == table.record(j).best_class for i, j in zip(a.tolist(), b.tolist())])
    return np.asarray(same | (partial & named & (widened > 0.3)))


def merge_rows(state: GraphState, kept: int, ended: int) -> SceneEvent:
    """Pour one entry into another; the better known of the two boxes stays."""
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
    table.times_seen[kept] += table.times_seen[ended]
    if leaver.crop_pixels > keeper.crop_pixels:
        keeper.crop_jpeg, keeper.crop_pixels = leaver.crop_jpeg, leaver.crop_pixels
    if keeper.embedding is None:
        keeper.embedding = leaver.embedding
    for child in sorted(state.contents.get(leaver.id, ())):
        row = table.row(child)
        if row != kept:
            state.stand_on(row, keeper.id, table.record(row).inside)
    state.drop(ended)
    if not table.removed[kept]:
        state.place(kept)
    state.counters["merged"] += 1
    return event


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

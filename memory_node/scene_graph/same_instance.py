"""Moved, cut or new: whether an unmatched observation is an object that is missing elsewhere, or pieces of one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.geometry import FloatArray
from memory_node.domain.scene import SceneEvent, SceneEventKind
from memory_node.domain.states import ObjectState, StateBelief, log_odds, with_state
from memory_node.scene_graph.config import SceneGraphConfig
from memory_node.scene_graph.duplicates import merge_rows
from memory_node.scene_graph.object_table import ObjectRecord, ObjectTable, Rows
from memory_node.scene_graph.state import GraphState

# An object that appears in a place known for this long was not merely hidden before (s).
_LONG_KNOWN_S = 30.0
_AROUND_M = 1.0
# The middle of each piece lies so near (m) to where the middle of the whole was.
_CUT_WITHIN_M = 0.3
_LATELY_SIGHTINGS = 3
# A metre farther counts as much as sides that differ by so much (logarithm), up to so many metres.
_FARTHER, _FAR_M = 0.1, 2.0


def best_same_instance(
    table: ObjectTable,
    candidates: Rows,
    best_class: str,
    center: FloatArray,
    size: FloatArray,
    embedding: NDArray[np.floating] | None,
    config: SceneGraphConfig,
) -> int | None:
    """Return the row of `candidates` (n,) most like a thing of a class, size (3,) and appearance; None when none is. Of
    those that are as alike the nearest to the thing's center (3,) is meant.

    Sides are compared in order of length, so that a thing that was turned over still matches. Removed objects of years
    are candidates, so they are compared as columns.
    """
    if best_class == "object":
        return None
    rows = candidates[table.class_code[candidates] == table.code_of_class(best_class)]
    sides = np.sort(np.maximum(size, config.min_thickness_m))
    own = np.sort(np.maximum(table.size[rows], config.min_thickness_m), axis=1)
    misfit = np.abs(np.log(own / sides)).max(axis=1)
    rows, misfit = (column[misfit <= np.log(config.same_instance_size_ratio)] for column in (rows, misfit))
    misfit += _FARTHER * np.minimum(np.linalg.norm(table.center[rows] - center, axis=1), _FAR_M)
    best: tuple[float, int] | None = None
    for i in np.argsort(misfit, kind="stable").tolist():
        if best is not None and misfit[i] >= best[0]:
            break
        record = table.record(int(rows[i]))
        unlikeness = _unlikeness(record, embedding)
        fits = record.movable and unlikeness <= 1.0 - config.same_instance_cosine
        if fits and (best is None or misfit[i] + unlikeness < best[0]):
            best = (float(misfit[i]) + unlikeness, int(rows[i]))
    return None if best is None else best[1]


def _unlikeness(record: ObjectRecord, embedding: NDArray[np.floating] | None) -> float:
    """Return one minus the cosine of the appearances, 0 where either is unknown."""
    if embedding is None or record.embedding is None or len(embedding) != len(record.embedding):
        return 0.0
    return 1.0 - float(np.asarray(embedding, np.float32) @ record.embedding.astype(np.float32))


def lose(state: GraphState, row: int, stamp_ns: int) -> list[SceneEvent]:
    """Take note that a thing was not at its place at a stamp; return what changed. It goes on as a similar thing that
    came elsewhere since, or as its pieces; else it is gone, and forgotten where it never was sure to exist."""
    table = state.table
    never_sure = table.times_seen[row] < state.config.confirmed_sightings and table.record(row).provenance == "camera"
    newcomer = None if never_sure else newcomer_like(state, row)
    if newcomer is not None:
        return go_on_at(state, row, newcomer)
    pieces = [] if never_sure else pieces_at(state, row)
    if pieces:
        return go_on_in_pieces(state, row, pieces)
    # The thing that is seen in its place shows that it is gone, whatever its own evidence.
    table.log_odds[row] = min(float(table.log_odds[row]), log_odds(state.config.removed_existence))
    if not table.times_missed[row]:
        table.note_missed(row, stamp_ns)
    removed = state.event(SceneEventKind.REMOVED, row)
    if never_sure:
        state.drop(row)
    else:
        state.mark_removed(row)
    return [removed]


def newcomer_like(state: GraphState, row: int) -> int | None:
    """Return the row of a similar object that came to its place after this one was last seen."""
    table = state.table
    young = table.alive & ~table.removed & (table.first_seen > table.last_seen[row])
    young &= table.class_code == table.class_code[row]
    young[row] = False
    came = [other for other in np.flatnonzero(young).tolist() if _came_since(state, other, row)]
    record = table.record(row)
    return best_same_instance(
        table,
        np.array(came, np.intp),
        record.best_class,
        table.center[row],
        table.size[row],
        record.embedding,
        state.config,
    )


def _came_since(state: GraphState, newcomer: int, row: int) -> bool:
    """Return whether a new object came to its place after another row was last seen. This needs surroundings that were
    known by then, or long before. Otherwise the robot came there only later, and the new object may always have been
    there."""
    table = state.table
    support = table.record(newcomer).support_id
    if support in table.row_of:
        around = [table.row(support), *(table.row(one) for one in sorted(state.contents.get(support, ())))]
    else:
        x, y, _ = table.center[newcomer].tolist()
        around = state.index.within((x - _AROUND_M, y - _AROUND_M), (x + _AROUND_M, y + _AROUND_M)).tolist()
    since = min((int(table.place_since[one]) for one in around if one != newcomer), default=2**62)
    return since <= table.last_seen[row] or since < table.first_seen[newcomer] - int(_LONG_KNOWN_S * 1e9)


def go_on_at(state: GraphState, row: int, newcomer: int) -> list[SceneEvent]:
    """Move a missing object to the place of an entry that was taken for a new thing, and remove that entry. Returns
    what changed."""
    table = state.table
    if not table.removed[row]:
        state.end_place(row)
    since = int(table.first_seen[newcomer])
    for column in (table.center, table.size, table.yaw, table.yaw_weight, table.face_variance, table.log_odds):
        column[row] = column[newcomer]
    state.mark_present(row)
    record, other = table.record(row), table.record(newcomer)
    table.set_area(row, other.area_id)
    record.anchors, table.place_since[row] = other.anchors, since
    support, inside = other.support_id, other.inside
    merged = merge_rows(state, row, newcomer)
    state.stand_on(row, support, inside)
    return [merged, state.event(SceneEventKind.MOVED, row)]


def pieces_at(state: GraphState, row: int) -> list[int]:
    """Return the rows of pieces of a thing's class that came to its place lately, or after it was last seen, nearest
    first."""
    table = state.table
    pieces = pieces_class(state, row)
    if not pieces:
        return []
    apart = np.linalg.norm(table.center - table.center[row], axis=1)
    lately = (table.first_seen > table.first_seen[row]) & (table.times_seen <= _LATELY_SIGHTINGS)
    came = (table.first_seen > table.last_seen[row]) | lately
    there = table.alive & ~table.removed & (apart <= _CUT_WITHIN_M)
    rows = np.flatnonzero(came & there & (table.class_code == table.code_of_class(pieces)))
    return rows[np.argsort(apart[rows], kind="stable")].tolist()


def pieces_class(state: GraphState, row: int) -> str:
    """Return the class of the pieces of a row's thing, "" where it cannot be cut."""
    kind = state.catalogue.find(state.table.record(row).best_class)
    return kind.slices if kind is not None else ""


def go_on_in_pieces(state: GraphState, row: int, pieces: list[int]) -> list[SceneEvent]:
    """Let the entry of a thing go on as its pieces: with the first one's class and place; the others are parts of it.
    Returns what changed."""
    first, *others = pieces
    turn_into_pieces(state, row, others)
    return go_on_at(state, row, first)


def turn_into_pieces(state: GraphState, row: int, others: list[int]) -> None:
    """Take a thing for one of its pieces from now on: of their class, sliced, and under the same id and name. others:
    rows of the other pieces, which are parts of it."""
    table, record = state.table, state.table.record(row)
    record.classes = {pieces_class(state, row): sum(record.classes.values())}
    table.set_class(row, next(iter(record.classes)))
    for other in others:
        _part_of(table.record(other), record.id)
    sliced = StateBelief(ObjectState.SLICED, state.config.max_existence, int(table.last_seen[row]), record.provenance)
    table.set_states(row, with_state(record.states, sliced))


def join_pieces(state: GraphState, row: int) -> None:
    """Note of a new thing that lies beside an entry that goes on as such pieces that it is a part of it."""
    table, name = state.table, state.table.record(row).best_class
    if state.catalogue.whole(name) == name:
        return
    apart = np.linalg.norm(table.center - table.center[row], axis=1)
    same = table.alive & ~table.removed & (apart <= _CUT_WITHIN_M) & (table.class_code == table.class_code[row])
    same[row] = False
    for other in np.flatnonzero(same).tolist():
        record = table.record(other)
        if any(one.state is ObjectState.SLICED for one in record.states):
            _part_of(table.record(row), str((record.attributes or {}).get("created_from", record.id)))
            return


def _part_of(part: ObjectRecord, whole_id: str) -> None:
    part.attributes = {**(part.attributes or {}), "created_from": whole_id}

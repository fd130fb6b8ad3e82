"""Enters the effects of a finished skill into the graph, without waiting for the camera."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from memory_node.catalogue.object_kind import Property
from memory_node.domain.scene import SceneEvent, SceneEventKind
from memory_node.domain.skill import StateChange
from memory_node.domain.states import ObjectState, believed, log_odds
from memory_node.scene_graph.carrying import leave_load, move_load, pick_up, slide_to
from memory_node.scene_graph.object_table import ObjectRecord
from memory_node.scene_graph.resolve import resolve_reference
from memory_node.scene_graph.same_instance import go_on_at, lose, merge_rows, same_class
from memory_node.scene_graph.state import ROBOT_ID, GraphState
from memory_node.scene_graph.support_surfaces import note_put

_DEFAULT_SIDE_M = 0.1
_SKILL_SIGMA_M = 0.05
_SAME_SPOT_M = 0.25


def apply_change(state: GraphState, change: StateChange) -> list[SceneEvent]:
    """Take over a change that names its thing by memory's id: states, picked up (the robot holds it), put down on or
    in something, destroyed, sliced off a whole. Things on or in a moved thing move with it.

    An object that the graph does not know yet is entered, when the change says where it is.
    """
    table = state.table
    known = table.id_of(change.object_id)
    if not known:
        entered = _enter(state, change)
        if entered is None:
            state.counters["change_of_unknown_object"] += 1
            return []
        merged = _merge_nearest_newcomer(state, entered, change) if change.created_from else []
        return [state.event(SceneEventKind.APPEARED, entered), *merged]
    row = table.row(known)
    _set_states(state, row, change)
    moved: list[int] = []
    if _is_door(change):
        moved, change = _slide(state, row, change), replace(change, position=None)
    if change.destroyed and change.source == "camera" and not table.removed[row]:
        return lose(state, row, change.stamp_ns)  # it is not there, and may be elsewhere
    if change.destroyed:
        # Whatever is seen here from now on is another thing: a whole apple where one was cut is not cut.
        table.set_states(row, ())
        table.note_missed(row, change.stamp_ns)
        table.log_odds[row] = -8.0
        event = state.event(SceneEventKind.REMOVED, row)
        if not table.removed[row]:
            state.mark_removed(row)
        return [event]
    kind = SceneEventKind.UPDATED
    merged = [*_merge_newcomers(state, row, change), *_merge_slid(state, row, change)] if _is_door(change) else []
    load: list[int] = []
    if change.held:
        moved = leave_load(state, row)
        load = pick_up(state, row)
    elif change.held is False or change.support_id or change.position is not None:
        kind = SceneEventKind.MOVED
        load = _put(state, row, change)
        for newcomer in _newcomers(state, row, change):
            _leave_beside(state, row, newcomer)
        merged = _merge_newcomers(state, row, change)
        for carried in load:
            merged += _merge_nearest_newcomer(state, carried, change) if table.alive[carried] else []
    _believe(state, row, change)
    _let_warm(state, (row, *load) if table.alive[row] else ())
    moved = [carried for carried in moved if table.alive[carried]]  # but for those that were merged
    load = [carried for carried in load if table.alive[carried]]
    return [*(state.event(kind, carried) for carried in (row, *load, *moved)), *merged]


def _let_warm(state: GraphState, rows: Sequence[int]) -> None:
    """End the belief that things are cold which stand over what heats and is on, or others on them: how warm they get,
    nobody sees."""
    table = state.table
    for one in {one for row in rows for one in (row, *state.load_of(table.record(row).id))}:
        states = table.record(one).states
        if ObjectState.COLD in believed(states) and _is_over_heat(state, one):
            table.set_states(one, tuple(belief for belief in states if belief.state is not ObjectState.COLD))


def _is_over_heat(state: GraphState, row: int) -> bool:
    """Return whether a thing stands on or in what heats and is on, or on or in a thing that does."""
    table, passed = state.table, {row}
    support = table.row_of.get(table.record(row).support_id)
    while support is not None and support not in passed:
        passed.add(support)
        record = table.record(support)
        kind = state.catalogue.find(record.best_class)
        heats = kind is not None and (kind.can(Property.HEATS) or kind.can(Property.BREWS))
        if heats and ObjectState.ON in believed(record.states):
            return True
        support = table.row_of.get(record.support_id)
    return False


def _is_door(change: StateChange) -> bool:
    """Return whether a change says that something was opened or closed, and no more than that."""
    return change.held is None and not change.support_id and change.door is not None


def _slide(state: GraphState, row: int, change: StateChange) -> list[int]:
    """Move what opens by sliding, with what is in it, to where the change says; return the rows of that."""
    table = state.table
    kind = state.catalogue.find(table.record(row).best_class)
    if change.position is None or kind is None or not kind.slides or table.removed[row]:
        return []
    return slide_to(state, row, np.array(change.position))


def _merge_newcomers(state: GraphState, row: int, change: StateChange) -> list[SceneEvent]:
    """Merge the new object that the camera made when it saw this thing at its new place before the skill's report. Of
    two that are both new the camera saw two."""
    is_new = state.table.first_seen[row] >= change.stamp_ns
    return [] if is_new else [merge_rows(state, row, other) for other in _newcomers(state, row, change)]


def _leave_beside(state: GraphState, row: int, newcomer: int) -> None:
    """Take what lay in a place before a thing was put there for beside it, not on it. newcomer: what the camera took
    the thing for."""
    table, record = state.table, state.table.record(row)
    for child in [table.row(one) for one in state.contents.get(table.record(newcomer).id, ())]:
        if table.place_since[child] < table.first_seen[newcomer] and child != row:
            state.stand_on(child, record.support_id, record.inside)


def _merge_nearest_newcomer(state: GraphState, row: int, change: StateChange) -> list[SceneEvent]:
    """Merge the nearest new object that the camera made of a thing carried along, or of a piece, that it saw before the
    skill's report. There may be several of them in one spot, so that each takes one."""
    seen = [other for other in _newcomers(state, row, change) if state.table.record(other).provenance != change.source]
    return [merge_rows(state, row, other) for other in seen[:1]]


def _newcomers(state: GraphState, row: int, change: StateChange) -> list[int]:
    """Return the rows of a thing's class that are new since a change and close by, the nearest first."""
    table = state.table
    center = table.center[row]
    near = state.index.within(
        (center[0] - _SAME_SPOT_M, center[1] - _SAME_SPOT_M), (center[0] + _SAME_SPOT_M, center[1] + _SAME_SPOT_M)
    )
    away_m = np.linalg.norm(table.center[near] - center, axis=1)
    new = (table.first_seen[near] >= change.stamp_ns) & (near != row) & (away_m <= _SAME_SPOT_M)
    by_distance = sorted(zip(away_m[new].tolist(), near[new].tolist()))
    return [other for _, other in by_distance if same_class(state, row, other)]


def _merge_slid(state: GraphState, row: int, change: StateChange) -> list[SceneEvent]:
    """Merge the new objects that the camera made of what slid along in a drawer, before the skill's report."""
    table = state.table
    kind = state.catalogue.find(table.record(row).best_class)
    if kind is None or not kind.slides:
        return []
    inside = np.array([table.row(one) for one in sorted(state.contents.get(table.record(row).id, ()))], np.intp)
    new = table.first_seen[inside] >= change.stamp_ns
    known = inside[~new].tolist()
    merged: list[SceneEvent] = []
    for newcomer in inside[new].tolist():
        away_m = np.linalg.norm(table.center[known] - table.center[newcomer], axis=1)
        for _, slid in sorted(zip(away_m.tolist(), known)):
            if same_class(state, slid, newcomer):
                known.remove(slid)
                merged += go_on_at(state, slid, newcomer)
                break
    return merged


def _believe(state: GraphState, row: int, change: StateChange) -> None:
    table = state.table
    probability = min(max(change.probability, 0.01), state.config.max_existence)
    table.log_odds[row] = max(float(table.log_odds[row]), log_odds(probability))
    table.note_seen(row, max(int(table.last_seen[row]), change.stamp_ns))


def _set_states(state: GraphState, row: int, change: StateChange) -> None:
    record = state.table.record(row)
    state.table.set_states(row, change.states_after(record.states))
    if change.added or change.removed:
        state.refresh_shelter(record.id)


def _put(state: GraphState, row: int, change: StateChange) -> list[int]:
    """Put a row where the change says, with what stands on or in it; return the rows of that."""
    table = state.table
    before = table.center[row].copy()
    if table.removed[row]:
        state.unload(table.record(row).id)
    load = state.load_of(table.record(row).id)
    if table.record(row).support_id != ROBOT_ID and not table.removed[row]:
        for carried in (row, *load):
            state.end_place(carried)
    _set_down(state, row, change)
    move_load(state, row, table.center[row] - before)
    for carried in load:
        record = table.record(carried)
        table.place_since[carried] = change.stamp_ns
        table.set_area(carried, table.record(row).area_id)
        record.anchors = table.record(row).anchors
        table.note_seen(carried, max(int(table.last_seen[carried]), change.stamp_ns))
        state.place(carried)
        state.stand_on(carried, record.support_id, record.inside)
    return load


def _set_down(state: GraphState, row: int, change: StateChange) -> None:
    table = state.table
    table.place_since[row] = change.stamp_ns
    table.record(row).anchors = state.anchors_here()
    support = resolve_reference(state, change.support_id)
    if change.position is not None:
        table.center[row] = change.position
    elif support is not None:
        table.center[row] = _spot_at(state, row, support, change.inside)
    table.face_variance[row] = 2.0 * _SKILL_SIGMA_M**2
    state.mark_present(row)
    if support is None or support == row:
        state.stand_on(row, "", False)
        state.locate(row, None)
        return
    state.stand_on(row, table.record(support).id, change.inside)
    note_put(state, row)
    table.set_area(row, table.record(support).area_id)


def _spot_at(state: GraphState, row: int, support: int, inside: bool) -> np.ndarray:
    """Return the middle of the support's top, or of its inside: all that is known of where a skill put something."""
    spot = state.table.center[support].copy()
    if not inside:
        spot[2] += 0.5 * (state.table.size[support, 2] + state.table.size[row, 2])
    return spot


def _enter(state: GraphState, change: StateChange) -> int | None:
    """Take in an object that only a skill knows; None when there is no telling where it is."""
    whole = resolve_reference(state, change.created_from)
    support = resolve_reference(state, change.support_id)
    if change.destroyed or (change.position is None and whole is None and support is None and not change.held):
        return None
    row = _add(state, change)
    if whole is not None:
        state.table.size[row] = 0.5 * state.table.size[whole]
    _set_center(state, row, change, support, whole)
    _set_states(state, row, change)
    _believe(state, row, change)
    if change.held:
        state.stand_on(row, ROBOT_ID, False)
    else:
        _stand_new(state, row, change, support, whole)
    return row


def _add(state: GraphState, change: StateChange) -> int:
    """Add a row for a thing that was never seen."""
    table = state.table
    record = ObjectRecord(change.object_id, {change.object_class or "object": 1.0}, change.object_class or "object")
    record.provenance = change.source
    record.anchors = state.anchors_here()
    record.movable = state.may_move(record.best_class)
    row = table.add(record)
    table.size[row] = _DEFAULT_SIDE_M
    table.first_seen[row] = table.last_seen[row] = table.place_since[row] = change.stamp_ns
    table.times_seen[row] = 1
    table.face_variance[row] = 2.0 * _SKILL_SIGMA_M**2
    return row


def _set_center(state: GraphState, row: int, change: StateChange, support: int | None, whole: int | None) -> None:
    """Put a new thing where the change says, else at its support, else at the thing that it was cut from."""
    table = state.table
    if change.position is not None:
        table.center[row] = change.position
    elif support is not None:
        table.center[row] = _spot_at(state, row, support, change.inside)
    elif whole is not None:
        table.center[row] = table.center[whole]
        table.set_area(row, table.record(whole).area_id)


def _stand_new(state: GraphState, row: int, change: StateChange, support: int | None, whole: int | None) -> None:
    """Enter what a new thing stands on or in: its support, else what the thing stands on that it was cut from."""
    table = state.table
    record = table.record(row)
    state.place(row)
    if whole is not None and support is None:
        state.stand_on(row, table.record(whole).support_id, table.record(whole).inside)
    else:
        state.stand_on(row, table.record(support).id if support is not None else "", change.inside)
        note_put(state, row)
    if not record.area_id:
        state.locate(row, None)
    if change.created_from:
        record.attributes = {"created_from": change.created_from}
        for other in np.flatnonzero(table.alive & (table.class_code == table.class_code[row])).tolist():
            if other != row and (table.record(other).attributes or {}).get("created_from") == change.created_from:
                state.set_apart(row, other)  # a knife tells its pieces apart, whatever their boxes are taken for

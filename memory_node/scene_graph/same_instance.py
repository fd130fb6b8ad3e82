"""Which entries are one thing: duplicates in one place, and what moved or was cut into pieces."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.geometry import FloatArray
from memory_node.domain.scene import SceneEvent, SceneEventKind
from memory_node.domain.states import ObjectState, StateBelief, log_odds, with_state
from memory_node.scene_graph.config import SceneGraphConfig
from memory_node.scene_graph.object_table import ObjectRecord, ObjectTable, Rows, volumes
from memory_node.scene_graph.observed import Boxes, overlap_aligned, share_inside
from memory_node.scene_graph.state import GraphState

_MOST_ALIASES = 8  # names of merged entries that are kept
_PART_GAP_M = 0.05
# Share of the smaller of two boxes, each at least so thick (m), in the other from which they share their space.
_SHARED, _FLAT_M = 0.25, 0.005


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
    shown = shown or (lambda rows: Boxes.of(table, rows))
    # What was reported twice lies in itself; like things side by side or on each other do not.
    two[unsure] = shown(a[unsure]).overlap(shown(b[unsure]), _FLAT_M).containment <= _SHARED
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
            kept, ended = sorted((one, other), key=lambda row: (table.first_seen[row], row))
            events.append(merge_rows(state, kept, ended))
            gone.add(ended)
    return events


def _close_pairs(state: GraphState, touched: Rows, neighbours: Rows) -> tuple[Rows, Rows]:
    table = state.table
    sides = [table.size[touched, axis, None] + table.size[neighbours, axis] for axis in range(3)]
    reach = 0.5 * np.maximum(np.maximum(sides[0], sides[1]), sides[2]) + _PART_GAP_M
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
    pairs = Boxes.of(table, a).overlap(Boxes.of(table, b), margin)
    ratio = volumes(pairs.size_a + 0.02) / volumes(pairs.size_b + 0.02)
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


def _is_part(state: GraphState, a: Rows, b: Rows) -> NDArray[np.bool_]:
    """Return which pairs of rows (p,) are a thing and a part of it: one of them was only ever seen in part and lies,
    but for the errors between views from several sides, in the other one of its class."""
    table, margin = state.table, state.config.min_thickness_m
    partial = table.mostly_truncated(a)
    i, j = np.where(partial, a, b), np.where(partial, b, a)
    pairs = Boxes.of(table, i).overlap(Boxes.of(table, j), margin)
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
    states = keeper.states
    for belief in sorted(leaver.states, key=lambda one: -one.confirmed_ns):
        rivals = {belief.state, *belief.state.opposites}
        if all(one.confirmed_ns <= belief.confirmed_ns for one in states if one.state in rivals):
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

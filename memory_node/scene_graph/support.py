"""Finds which object stands on or in which, from their boxes and from what their classes can carry and hold."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.states import ObjectState, door_of
from memory_node.scene_graph.object_table import Rows, footprints, volumes
from memory_node.scene_graph.state import ROBOT_ID, GraphState
from memory_node.scene_graph.support_surfaces import (
    Flags,
    Offsets,
    Roles,
    beyond_footprint,
    is_where_it_was_put,
    on_axes,
    over_footprint,
    reach_down,
    reach_out,
    roles_of,
    settle_tops,
)

# A box is known to a few centimetres.
_SLACK_M = 0.05
_HIDDEN_EDGE_M = 0.08
# A thing is not much wider than its support; on receptacles, such as a burner with a pan, it may be.
_CARRIED_SHARE, _CARRIED_ON_RECEPTACLE = 0.8, 0.15
# Furniture takes at most this share of its container's volume; what a hand can carry may fill it, as a pillow does.
_HELD_SHARE = 0.75
_STICKS_OUT = 0.35  # the share of a content's length that may stick out on a side
# What once stood on a thing still does while its foot is within so many times the usual gap: boxes of several views
# differ, and where a skill has put it counts for more than a few centimetres.
_STILL_ON = 2.5
# What lies deeper than a surface, and in a container, is in that: a drawer's box may reach above the dresser's top.
_SUNK_M = 0.02
# Things of one class are stacked only where their feet are this far apart; else they are one thing, seen as two.
_STACKED_M = 0.03

Matrix = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class _Pairs:
    """rows (n,) and the neighbours (m,) that they may stand on or in, as long as their boxes stay.

    foot, head (n,): heights of the rows' lower and upper faces, m; floor, top (m,): the same of the neighbours. sinks
    (m,): how far below its upper face each neighbour carries things, m.
    """

    state: GraphState
    rows: Rows
    neighbours: Rows
    foot: NDArray[np.float64]
    head: NDArray[np.float64]
    floor: NDArray[np.float64]
    top: NDArray[np.float64]
    roles: Roles
    other: Matrix

    @classmethod
    def of(cls, state: GraphState, rows: Rows, neighbours: Rows) -> _Pairs:
        table = state.table
        other = (rows[:, None] != neighbours[None]) & ~_came_by_hand(state, rows, neighbours)
        half_row, half_other = 0.5 * table.size[rows, 2], 0.5 * table.size[neighbours, 2]
        return cls(
            state,
            rows,
            neighbours,
            table.center[rows, 2] - half_row,
            table.center[rows, 2] + half_row,
            table.center[neighbours, 2] - half_other,
            table.center[neighbours, 2] + half_other,
            roles_of(state, rows, neighbours),
            other,
        )

    @cached_property
    def centers(self) -> Offsets:
        """Where the rows' centres lie along and across the boxes of the neighbours (n, m), m."""
        return on_axes(self.state, self.rows, self.neighbours)

    @cached_property
    def beyond(self) -> NDArray[np.float64]:
        """How far the rows' centres lie beyond the footprints of the neighbours (n, m), m; negative above or below."""
        return beyond_footprint(self.state, self.centers, self.neighbours)

    @cached_property
    def covered(self) -> Matrix:
        """(n, m): the neighbour's centre is above or below the row's footprint."""
        return over_footprint(self.state, self.neighbours, self.rows, 0.0).T

    @cached_property
    def within_walls(self) -> Matrix:
        """(n, m): the neighbour is a container or a receptacle, and the row is small enough, and inside its sides and
        above its foot."""
        holding = np.flatnonzero(self.roles.container | self.roles.receptacle)
        found = np.zeros(self.other.shape, np.bool_)
        table, rows, neighbours = self.state.table, self.rows, self.neighbours[holding]
        along, across = (offsets[:, holding] for offsets in self.centers)
        turn = table.yaw[rows].astype(np.float64)[:, None] - table.yaw[neighbours].astype(np.float64)[None]
        cos, sin = np.abs(np.cos(turn)), np.abs(np.sin(turn))
        x, y = 0.5 * table.size[rows, 0, None], 0.5 * table.size[rows, 1, None]
        half = 0.5 * table.size[neighbours, :2]
        share = 1.0 - 2.0 * _STICKS_OUT
        inside = np.abs(along) + share * (cos * x + sin * y) < half[None, :, 0] + 0.01
        inside &= np.abs(across) + share * (sin * x + cos * y) < half[None, :, 1] + 0.01
        volume, space = volumes(table.size[rows]), volumes(table.size[neighbours])
        inside &= volume[:, None] < np.where(self.roles.taken, 1.0, _HELD_SHARE)[:, None] * space[None]
        inside &= self.foot[:, None] > self.floor[holding] - _SLACK_M
        found[:, holding] = inside
        return np.asarray(found & self.other & ~self.roles.barred)

    def touching(self, gap_m: float) -> Matrix:
        """Return (n, m): the foot is less than a gap above or below the upper face of the neighbour."""
        return np.asarray(np.abs(self.foot[:, None] - self.top[None]) < gap_m)


def update_supports(state: GraphState, changed: Rows, present: Rows) -> list[int]:
    """Update the supports around changed rows; return the rows whose support changed, and the supports that did.

    changed: rows with new boxes; present: all rows around. Held objects and objects hidden in a closed container keep
    their support.
    """
    table = state.table
    if not changed.size or not present.size:
        return []
    rows = _concerned(state, changed, present)
    present = present[table.log_odds[present] > 0.0]
    pairs = _Pairs.of(state, rows, present)
    gap_m = state.config.on_gap_m
    above, within = _above(pairs), _enclosed(pairs)
    resting = (above & pairs.touching(gap_m) | within).any(axis=1)
    lower = reach_down(state, rows[~resting & ~pairs.roles.mounted], present)
    if reach_out(state, rows, present, pairs.centers) or lower:
        pairs = _Pairs.of(state, rows, present)
        above, within = _above(pairs), _enclosed(pairs)
    on, about_on = above & pairs.touching(gap_m), above & pairs.touching(_STILL_ON * gap_m)
    # Things that a row may lie on in a heap, whatever they are.
    below = (pairs.beyond < _SLACK_M) | pairs.covered
    below &= pairs.touching(_STILL_ON * gap_m) & pairs.other
    under = ((pairs.beyond < 0.0) | pairs.covered) & (pairs.foot[:, None] > pairs.top[None] - _SUNK_M)
    places = _Places(pairs, on, under, _still_within(pairs, within), _on_seat(pairs))
    carried = np.zeros(pairs.other.shape, np.bool_)
    for index, row in enumerate(rows.tolist()):
        if state.contents.get(table.record(row).id):
            carried[index] = _carried(state, row, present)
    # An object is not on or in a thing that it carries: a cup is not on the knife in it.
    chosen = places.without(carried).chosen()
    moved: list[int] = []
    for index, row in enumerate(rows.tolist()):
        record = table.record(row)
        if record.support_id == ROBOT_ID or is_where_it_was_put(state, row) or _is_hidden(state, row):
            continue
        record.put_at = None  # it lies elsewhere by now: from here on boxes decide
        before = record.support_id, record.inside
        at, inside = chosen[index]
        if moved and state.contents.get(record.id):  # what it carries may be another by now
            one = slice(index, index + 1)
            at, inside = places.without(_carried(state, row, present)[None], one).chosen()[0]
        if at >= 0:
            state.stand_on(row, table.record(int(present[at])).id, inside)
        elif not (
            table.sheltered[row]
            or _is_among(state, present[about_on[index]], *before)
            or _is_heaped(state, present[below[index]], before[0])
        ):
            state.stand_on(row, "", False)
        if before != (record.support_id, record.inside):
            moved.append(row)
    return moved + [row for row in settle_tops(state, present) if row not in moved]


def _carried(state: GraphState, row: int, present: Rows) -> Flags:
    """Return which present rows (m,) are on or in the thing of a row."""
    load = np.array(state.load_of(state.table.record(row).id), np.intp)
    return np.asarray(state.table.among(load)[present])


def _is_hidden(state: GraphState, row: int) -> bool:
    """Return whether the thing of a row is shut in a container that is still there, and not seen now: it stays in."""
    table = state.table
    container = table.row_of.get(table.record(row).support_id)
    is_shut = container is not None and bool(table.sheltered[row]) and not table.removed[container]
    return is_shut and int(table.last_seen[row]) < state.now_ns


def _is_among(state: GraphState, rows: Rows, support_id: str, inside: bool) -> bool:
    """Return whether what a thing stood on is one of some rows."""
    return not inside and state.table.row_of.get(support_id, -1) in rows


def _is_heaped(state: GraphState, rows: Rows, support_id: str) -> bool:
    """Return whether one of some rows is on or in what a thing stood on: then it lies there on other things."""
    return bool(support_id) and any(state.table.record(row).support_id == support_id for row in rows.tolist())


@dataclass(frozen=True, eq=False)
class _Places:
    """Where rows (n,) may be, each (n, m): on a neighbour's surface, in a container, on a seat; under: the neighbours
    below or above their middles, with an upper face that is not above their feet."""

    pairs: _Pairs
    on: Matrix
    under: Matrix
    within: Matrix
    seated: Matrix

    def without(self, carried: Matrix, some: slice = slice(None)) -> _Places:
        """Return the places of some rows (k,) less the neighbours (k, m) that they carry themselves."""
        on, within, seated = (places[some] & ~carried for places in (self.on, self.within, self.seated))
        return _Places(self.pairs, on, self.under[some], within, seated)

    def chosen(self) -> list[tuple[int, bool]]:
        """Return for each row which neighbour (-1: none) it stands on or in, and whether in it.

        Of surfaces at its foot the topmost counts: where a pan stands on a burner, the counter is as near. Of
        containers around it the smallest. What is in one is not on a surface that ends beside it, or above its foot.
        """
        pairs = self.pairs
        if not pairs.neighbours.size:
            return [(-1, False)] * len(self.on)
        on, space = self._surfaces(), volumes(pairs.state.table.size[pairs.neighbours])
        every = np.arange(len(on))
        surface = np.where(on, pairs.top, -np.inf).argmax(axis=1)
        container = np.where(self.within, space, np.inf).argmin(axis=1)
        seat = np.where(self.seated, space, np.inf).argmin(axis=1)
        is_on, is_in = on[every, surface], self.within[every, container]
        # In a bowl on a table, a thing's foot is level with the table's top as well, which may seem to reach into it.
        reach_m, height_m = pairs.top[surface] - pairs.floor[container], (pairs.top - pairs.floor)[container]
        stands_on_it = (pairs.floor[surface] < pairs.floor[container]) & (reach_m < 0.5 * height_m)
        level = ((np.abs(reach_m) < _SLACK_M) | stands_on_it) & (container != surface)
        is_in &= ~is_on | ~self.under[every, surface] | level
        is_seated = self.seated[every, seat]
        # A mug on the plate of a coffee machine is not on the drawer that ends at its foot.
        is_on &= ~(is_seated & ~self._usual[surface])
        elsewhere = np.where(is_seated, seat, -1)
        at = np.where(is_in, container, np.where(is_on, surface, elsewhere))
        return list(zip(at.tolist(), is_in.tolist()))

    @property
    def _usual(self) -> Flags:
        """The neighbours (m,) that things are usually put on."""
        return self.pairs.roles.movable | self.pairs.roles.receptacle & ~self.pairs.roles.slides

    def _surfaces(self) -> Matrix:
        """Return which of the surfaces (n, m) that things may stand on count.

        What was seen once, or is not made for things to be put on it (a drawer: a counter's top may reach below its
        rim), is a support only if there is no other. Of surfaces at one level a thing stands on the one below its
        middle, not on one that ends beside it.
        """
        pairs, found = self.pairs, self.on
        evident = pairs.state.table.times_seen[pairs.neighbours] > 1
        for likely in (self.on & self._usual, self.on & self._usual & evident):
            found = np.where(likely.any(axis=1, keepdims=True), likely, found)
        below = found & self.under
        highest, below_them = (np.where(some, pairs.top, -np.inf).max(axis=1) for some in (found, below))
        as_high: Flags = below.any(axis=1) & (below_them > highest - _SLACK_M)
        return np.where(as_high[:, None], below, found)


def _concerned(state: GraphState, changed: Rows, present: Rows) -> Rows:
    """Return the rows whose support may be another one now: those that have changed, those over or on or in them, and
    those whose support is gone."""
    table = state.table
    over = over_footprint(state, present, changed, _SLACK_M).any(axis=1)
    ids = {table.record(row).id for row in changed.tolist()}
    records = [table.record(row) for row in present.tolist()]
    likely = (table.log_odds[present] > 0.0).tolist()
    known = {record.id for record, is_likely in zip(records, likely) if is_likely} | {"", ROBOT_ID}
    lost = np.array([one.support_id in ids or _is_gone(state, one.support_id, known) for one in records], np.bool_)
    return np.union1d(changed, present[over | lost])


def _is_gone(state: GraphState, support_id: str, known: set[str]) -> bool:
    if support_id in known:
        return False
    row = state.table.row_of.get(support_id)
    return row is None or bool(state.table.removed[row]) or float(state.table.log_odds[row]) <= 0.0


def _above(pairs: _Pairs) -> Matrix:
    """Return (n, m): the row is over the neighbour, which could carry it, at whatever height."""
    table, roles = pairs.state.table, pairs.roles
    area, wide = footprints(table.size[pairs.rows]), footprints(table.size[pairs.neighbours])
    laden = roles.receptacle[None] & roles.taken[:, None]
    # Of furniture the far edge is often hidden; a fork beside a plate is not on it.
    margin = np.where(roles.movable, 0.02, _HIDDEN_EDGE_M)
    over = pairs.beyond < margin
    over &= wide[None] > np.where(laden, _CARRIED_ON_RECEPTACLE, _CARRIED_SHARE) * area[:, None]
    # A pan hides the burner that it stands on, but for a rim.
    over |= pairs.covered & laden
    stacked = pairs.foot[:, None] - pairs.floor[None] > _STACKED_M
    return np.asarray(over & pairs.other & ~roles.barred & (stacked | ~roles.same_class))


def _enclosed(pairs: _Pairs) -> Matrix:
    """Return (n, m): the neighbour is a container, and the row is in its space.

    A thing that a hand can carry may stick out of an open container; furniture can only be in cupboards and the like,
    and there only where it is not built in.
    """
    inside = pairs.within_walls & pairs.roles.container[None] & ~pairs.roles.same_class
    # What stands in an open container may be far taller: a towel in a basin.
    below_rim = pairs.foot[:, None] < pairs.top[None] - _SLACK_M
    inside &= (0.5 * (pairs.foot + pairs.head)[:, None] < pairs.top[None]) | (below_rim & ~pairs.roles.lidded[None])
    sticks_out_m = np.where(pairs.roles.taken, _STICKS_OUT * (pairs.head - pairs.foot), 0.0)[:, None]
    shut = pairs.head[:, None] < pairs.top[None] + np.maximum(_SLACK_M, sticks_out_m)
    shut &= ~(pairs.roles.built_in[:, None] | _seen_outside(pairs))
    return np.asarray(inside & np.where(pairs.roles.lidded[None], shut, pairs.roles.taken[:, None]))


def _still_within(pairs: _Pairs, within: Matrix) -> Matrix:
    """Return within (n, m) without the other containers whose boxes reach around a row that is still in its own, but
    for those in or on that one: a drawer that was pulled out takes nothing out of the basin above it. What is in none
    of several yet is in one that is closed only where all are."""
    state, kept = pairs.state, within.copy()
    table = state.table
    for index in np.flatnonzero(within.sum(axis=1) > 1).tolist():
        record = table.record(int(pairs.rows[index]))
        own = table.row_of.get(record.support_id, -1)
        if record.inside and own in pairs.neighbours[within[index]]:
            kept[index] &= np.isin(pairs.neighbours, [own, *state.load_of(record.support_id)])
            continue
        around = np.flatnonzero(within[index])
        doors = [door_of(table.record(row).states) for row in pairs.neighbours[around].tolist()]
        shut = around[[door is ObjectState.CLOSED for door in doors]]
        if len(shut) < len(around):
            kept[index, shut] = False
    return kept


def _seen_outside(pairs: _Pairs) -> Matrix:
    """Return (n, m): the row is seen now, and the neighbour is closed: what was not known to be in it is not."""
    state = pairs.state
    table = state.table
    outside = np.zeros(pairs.other.shape, np.bool_)
    seen = table.last_seen[pairs.rows] >= state.now_ns
    for column in np.flatnonzero(pairs.roles.lidded).tolist():
        record = table.record(int(pairs.neighbours[column]))
        if door_of(record.states) is ObjectState.CLOSED:
            inside = [table.row(one) for one in state.contents.get(record.id, ())]
            outside[:, column] = seen & ~np.isin(pairs.rows, inside)
    return outside


def _came_by_hand(state: GraphState, rows: Rows, neighbours: Rows) -> Matrix:
    """Return (n, m): a skill put the neighbour there after the row had come to its place, so that the row is not on
    it."""
    table = state.table
    by_hand = np.array([table.record(row).put_at is not None for row in neighbours.tolist()], np.bool_)
    return np.asarray(by_hand[None] & (table.place_since[neighbours][None] > table.place_since[rows][:, None]))


def _on_seat(pairs: _Pairs) -> Matrix:
    """Return (n, m): the row lies on the neighbour at a height between its foot and its upper face: on a seat, on what
    lies there, on an arm or the back, or on a shelf below a table's top; or it hangs over it. What stands on the floor
    under a table is not on it."""
    seat = pairs.floor + pairs.roles.level * (pairs.top - pairs.floor)
    inside, foot = pairs.within_walls, pairs.foot[:, None]
    seated = (pairs.roles.level < 1.0)[None] & (foot > seat[None] - 3.0 * _SLACK_M) & (foot < pairs.top[None])
    shelved = (pairs.roles.level >= 1.0)[None] & (
        pairs.roles.taken[:, None] & ~(pairs.roles.movable | pairs.roles.container)[None]
    )
    shelved &= (foot > pairs.floor[None] + _SLACK_M) & (foot < pairs.top[None])
    return np.asarray(pairs.roles.receptacle[None] & (inside & (seated | shelved) | _hung(pairs)))


def _hung(pairs: _Pairs) -> Matrix:
    """Return (n, m): a hand can take the row, and it reaches from below the neighbour to above it: a towel on its
    rail."""
    through = (pairs.foot[:, None] < pairs.floor[None]) & (pairs.head[:, None] > pairs.top[None])
    through &= pairs.beyond < _SLACK_M
    through &= pairs.roles.taken[:, None] & ~(pairs.roles.movable | pairs.roles.container)[None]
    return np.asarray(through & pairs.other & ~pairs.roles.barred)

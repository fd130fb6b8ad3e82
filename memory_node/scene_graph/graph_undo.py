"""Undoes edits of the graph: what an edit changed is kept field by field, and goes back field by field."""

from __future__ import annotations

import contextlib
import copy
import operator
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from memory_node.domain.errors import NotFoundError
from memory_node.domain.scene import Room, SceneEvent, SceneEventKind
from memory_node.scene_graph.object_table import ObjectRecord
from memory_node.scene_graph.places import Places
from memory_node.scene_graph.state import ROBOT_ID, GraphState

# Edits that can be undone; the oldest goes first. An edit keeps what it changed alone.
KEPT_EDITS = 1000
_FIELDS = tuple(field.name for field in fields(ObjectRecord))
_values = operator.attrgetter(*_FIELDS)
# Values with arrays are compared by identity: who changes them puts new ones in their place.
_BY_IDENTITY = frozenset({"embedding", "history", "crop_jpeg"})
Pairs = set[tuple[str, str]]


@dataclass(frozen=True)
class _Before:
    """What one object was: its record, and the values of its row by column."""

    record: ObjectRecord
    columns: dict[str, Any]


@dataclass(frozen=True)
class _Difference:
    """What an edit did. changed: old fields and columns by object, those alone that differ. gone: whole objects.

    came: ids of new objects. order: the ids as they were in order. apart, joined: pairs that were known to be two
    things and are no more, and the other way round. rooms: as they were, those that differ.
    """

    changed: dict[str, tuple[dict[str, Any], dict[str, Any]]]
    gone: dict[str, _Before]
    came: tuple[str, ...]
    order: tuple[str, ...]
    apart: Pairs
    joined: Pairs
    votes: dict[str, float | None]
    rooms: dict[str, Room]


class _Copy:
    """The graph at one moment; a copy of 5,000 objects costs tens of milliseconds, which a person's edit may."""

    def __init__(self, state: GraphState, places: Places) -> None:
        self.row_of = dict(state.table.row_of)
        records = ((one, state.table.record(row)) for one, row in self.row_of.items())
        # The weights of classes alone are changed in place.
        self.records = {one: (_values(record), dict(record.classes)) for one, record in records}
        self.columns = state.table.copied_columns()
        self.apart = _pairs(state)
        self.votes = dict(state.seen_apart)
        self.rooms = dict(places.rooms)

    def difference(self, state: GraphState, places: Places) -> _Difference:
        """Return what has changed since."""
        now, table = state.table.row_of, state.table
        both = [one for one in self.row_of if one in now]
        rows_then = np.array([self.row_of[one] for one in both], np.intp)
        rows_now = np.array([now[one] for one in both], np.intp)
        columns: dict[str, dict[str, Any]] = {}
        for name, column in self.columns.items() if both else ():
            same = (column[rows_then] == getattr(table, name)[rows_now]).reshape(len(both), -1).all(axis=1)
            for at in np.flatnonzero(~same).tolist():
                columns.setdefault(both[at], {})[name] = column[rows_then[at]].copy()
        changed = {}
        for one in both:
            old = _different(*self.records[one], table.record(now[one]))
            if old or one in columns:
                changed[one] = (old, columns.get(one, {}))
        apart = _pairs(state)
        votes = {one for one in {*self.votes, *state.seen_apart} if self.votes.get(one) != state.seen_apart.get(one)}
        return _Difference(
            changed,
            {
                one: _Before(
                    _record_of(*self.records[one]), {name: column[row].copy() for name, column in self.columns.items()}
                )
                for one, row in self.row_of.items()
                if one not in now
            },
            tuple(one for one in now if one not in self.row_of),
            tuple(self.row_of),
            self.apart - apart,
            apart - self.apart,
            {one: self.votes.get(one) for one in votes},
            {one: room for one, room in self.rooms.items() if places.rooms.get(one) != room},
        )


class UndoBook:
    """Keeps the last edits of a graph for undo; not thread-safe, like the graph.

    What was seen since an edit stays, unless the edit had changed the same.
    """

    def __init__(self, state: GraphState, places: Places) -> None:
        self._state = state
        self._places = places
        self._edits: OrderedDict[str, _Difference] = OrderedDict()

    @contextlib.contextmanager
    def recorded(self, edit_id: str) -> Iterator[None]:
        """Keep what the body changes under an id; "" keeps nothing."""
        if not edit_id:
            yield
            return
        before = _Copy(self._state, self._places)
        yield
        self._edits[edit_id] = before.difference(self._state, self._places)
        while len(self._edits) > KEPT_EDITS:
            self._edits.popitem(last=False)

    def take_back(self, edit_id: str) -> list[SceneEvent]:
        """Bring back what an edit changed; return what that did.

        Raises:
            NotFoundError: no such edit is kept.
        """
        if edit_id not in self._edits:
            raise NotFoundError(f"no edit {edit_id!r} can be undone: the last {KEPT_EDITS} since the start are kept")
        return _undo(self._state, self._places, self._edits.pop(edit_id))


def _undo(state: GraphState, places: Places, edit: _Difference) -> list[SceneEvent]:
    table = state.table
    events = []
    for one in edit.came:
        if one in table.row_of:
            events.append(state.event(SceneEventKind.FORGOTTEN, table.row_of[one]))
            state.drop(table.row_of[one])
    columns = {one: old for one, (_, old) in edit.changed.items() if one in table.row_of}
    for one in columns:
        _restore_fields(state, one, edit.changed[one][0])
    for one, before in edit.gone.items():
        if one not in table.row_of:
            table.add(_copied(before.record))
            columns[one] = before.columns
    for one, old in columns.items():
        for name, value in old.items():
            getattr(table, name)[table.row_of[one]] = value
        _enter(state, one)
    for row in state.load_of(ROBOT_ID):
        state.index.take(row)
    _restore_pairs(state, edit)
    places.rooms.update({one: room for one, room in edit.rooms.items() if one in places.rooms})
    _reorder(table.row_of, edit.order)
    state.version += 1
    return [*events, *(_restored(state, table.row_of[one], one in edit.gone) for one in columns)]


def _restore_fields(state: GraphState, object_id: str, old: dict[str, Any]) -> None:
    table = state.table
    record = table.record(table.row_of[object_id])
    table.names.drop(object_id, record.aliases)
    state.contents.get(record.support_id, set()).discard(object_id)
    for name, value in old.items():
        setattr(record, name, copy.copy(value))
    table.names.take(object_id, (record.name, *record.aliases))


def _enter(state: GraphState, object_id: str) -> None:
    """Enter a thing where its row and its record say that it is."""
    row = state.table.row_of[object_id]
    record = state.table.record(row)
    if record.support_id:
        state.contents.setdefault(record.support_id, set()).add(object_id)
    if state.table.removed[row]:
        state.index.take(row)
    else:
        state.place(row)


def _restore_pairs(state: GraphState, edit: _Difference) -> None:
    for one, other in edit.joined:
        state.apart.get(one, set()).discard(other)
    for one, other in edit.apart:
        if one in state.table.row_of and other in state.table.row_of:
            state.apart.setdefault(one, set()).add(other)
    for one, vote in edit.votes.items():
        if vote is None:
            state.seen_apart.pop(one, None)
        else:
            state.seen_apart[one] = vote


def _reorder(row_of: dict[str, int], order: tuple[str, ...]) -> None:
    """Put the ids in the order that they had; what has come since is behind them."""
    old = {one: row_of[one] for one in order if one in row_of}
    later = {one: row for one, row in row_of.items() if one not in old}
    row_of.clear()
    row_of.update(old | later)


def _restored(state: GraphState, row: int, is_back: bool) -> SceneEvent:
    if state.table.removed[row]:
        return state.event(SceneEventKind.REMOVED, row)
    return state.event(SceneEventKind.APPEARED if is_back else SceneEventKind.UPDATED, row)


def _copied(record: ObjectRecord) -> ObjectRecord:
    return _record_of(_values(record), dict(record.classes))


def _record_of(values: tuple[Any, ...], classes: dict[str, float]) -> ObjectRecord:
    return ObjectRecord(**{**dict(zip(_FIELDS, values)), "classes": dict(classes)})


def _different(old: tuple[Any, ...], classes: dict[str, float], new: ObjectRecord) -> dict[str, Any]:
    now = _values(new)
    if all(map(operator.is_, old, now)) and classes == new.classes:
        return {}
    differ = {
        name: then
        for name, then, value in zip(_FIELDS, old, now)
        if then is not value and (name in _BY_IDENTITY or bool(then != value))
    }
    differ.pop("classes", None)
    return differ if classes == new.classes else {**differ, "classes": classes}


def _pairs(state: GraphState) -> Pairs:
    return {(one, other) for one, others in state.apart.items() for other in others}

"""Corrections by a person, on record as the user's, and how they are undone field by field."""

from __future__ import annotations

import contextlib
import copy
import operator
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from memory_node.catalogue.class_name import folded
from memory_node.domain.errors import ConflictError, InvalidValueError, NotFoundError
from memory_node.domain.scene import Room, SceneEvent, SceneEventKind
from memory_node.domain.states import log_odds
from memory_node.scene_graph.object_table import ObjectRecord
from memory_node.scene_graph.places import Places
from memory_node.scene_graph.resolve import NamedThings
from memory_node.scene_graph.same_instance import merge_rows
from memory_node.scene_graph.state import ROBOT_ID, GraphState

_BY = "user"
# A person's word outweighs a few hundred sightings, but not any number of them.
_USER_WEIGHT = 200.0
_FOR_EVER_NS = 2**62


class SceneEdits:
    """Edits a graph in place.

    Raises (every method):
        NotFoundError: an id that nothing in the graph carries.
    """

    def __init__(self, state: GraphState, places: Places) -> None:
        self._state = state
        self._places = places

    def relabel(self, object_id: str, new_class: str) -> list[SceneEvent]:
        """Give an object its right class.

        Raises:
            InvalidValueError: the class is empty.
        """
        if not new_class.strip():
            raise InvalidValueError("relabel: expected a class, got an empty one")
        row = self._row(object_id)
        record = self._state.table.record(row)
        record.classes = {new_class: _USER_WEIGHT}
        self._state.table.set_class(row, new_class)
        record.movable = self._state.may_move(new_class)
        return self._edited(row)

    def merge(self, object_id: str, other_id: str) -> list[SceneEvent]:
        """Make one of two entries for the same thing; `object_id` stays.

        Raises:
            ConflictError: both are the same entry.
        """
        kept, ended = self._row(object_id), self._row(other_id)
        if kept == ended:
            raise ConflictError(f"merge: expected two objects, got {object_id} twice")
        merged = merge_rows(self._state, kept, ended)
        return [merged, *self._edited(kept)]

    def split(self, object_id: str, position: tuple[float, float, float]) -> list[SceneEvent]:
        """Make two of one entry: the second, of the same class and size, is at `position` (map, metres)."""
        state, table = self._state, self._state.table
        row = self._row(object_id)
        old = table.record(row)
        record = ObjectRecord(state.make_id(state.now_ns), dict(old.classes), old.best_class, movable=old.movable)
        record.provenance, record.attributes = _BY, {"split_from": object_id}
        second = table.add(record)
        state.set_apart(row, second)
        table.place_since[second] = state.now_ns
        for column in (table.size, table.yaw, table.yaw_weight, table.face_variance, table.log_odds):
            column[second] = column[row]
        table.center[second] = np.array(position)
        table.first_seen[second] = table.last_seen[second] = state.now_ns
        table.times_seen[second] = 1
        state.place(second)
        state.locate(second, None)
        state.version += 1
        return [state.event(SceneEventKind.APPEARED, second), *self._edited(row)]

    def delete(self, object_id: str) -> list[SceneEvent]:
        """Take an object out of the present: it is not there. Its history stays."""
        row = self._row(object_id)
        self._state.table.record(row).provenance = _BY
        self._state.table.note_missed(row, self._state.now_ns)
        self._state.table.log_odds[row] = -8.0
        event = self._state.event(SceneEventKind.REMOVED, row)
        if not self._state.table.removed[row]:
            self._state.mark_removed(row)
        self._state.version += 1
        return [event]

    def restore(self, object_id: str) -> list[SceneEvent]:
        """Bring a removed object back to where it was last; it is not known what it stands on.

        Raises:
            ConflictError: it is not removed.
        """
        state, row = self._state, self._row(object_id)
        if not state.table.removed[row]:
            raise ConflictError(f"restore: object {object_id} is not removed")
        state.mark_present(row)
        state.locate(row, None)
        state.table.place_since[row] = state.now_ns
        state.table.note_seen(row, state.now_ns)
        certain = state.config.max_existence
        state.table.log_odds[row] = log_odds(certain)
        self._state.table.record(row).provenance = _BY
        state.version += 1
        return [state.event(SceneEventKind.MOVED, row)]

    def name_room(self, room_id: str, name: str) -> Room:
        """Call a room what people call it.

        Raises:
            InvalidValueError: the name is empty.
        """
        if not name.strip():
            raise InvalidValueError("name_room: expected a name, got an empty one")
        self._places.name_room(room_id, name, by_user=True)
        self._state.version += 1
        return self._places.rooms[room_id]

    def select(
        self, object_id: str = "", area_id: str = "", object_class: str = "", begin_ns: int = 0, end_ns: int = 0
    ) -> list[str]:
        """Return the ids of all objects, removed ones included, that every given condition fits.

        begin_ns and end_ns: only objects that were seen within the span and at no other time.

        Raises:
            InvalidValueError: no condition is given; an empty request must not forget everything.
            NotFoundError: `object_id` names nothing.
        """
        if not (object_id or area_id or object_class or begin_ns or end_ns):
            raise InvalidValueError("expected an object, an area, a class or a time span, got none of them")
        table = self._state.table
        object_id = object_id and table.record(self._row(object_id)).id
        until_ns = end_ns or _FOR_EVER_NS
        return [
            record.id
            for row, record in ((row, table.record(row)) for row in table.rows())
            if table.first_seen[row] >= begin_ns
            and table.last_seen[row] <= until_ns
            and _fits(record, object_id, area_id, object_class)
        ]

    def forget(self, object_ids: list[str]) -> list[SceneEvent]:
        """Erase objects, history included."""
        events = []
        for object_id in object_ids:
            row = self._row(object_id)
            events.append(self._state.event(SceneEventKind.FORGOTTEN, row))
            self._state.drop(row)
        self._state.version += 1
        return events

    def call(self, object_id: str, alias: str) -> list[SceneEvent]:
        """Let a thing be called what people call it, besides its name: "my cup".

        Raises:
            InvalidValueError: the alias is empty, or another thing is called so.
        """
        row, alias = self._row(object_id), " ".join(alias.split())
        record, names = self._state.table.record(row), self._state.table.names
        if not alias:
            raise InvalidValueError("call: expected a name, got an empty one")
        if names.id_of(alias) not in ("", record.id):
            raise InvalidValueError(f"call: another thing is called {alias!r}")
        record.aliases = tuple(dict.fromkeys((*record.aliases, alias)))
        names.take(record.id, (alias,))
        return self._edited(row)

    def _row(self, reference: str) -> int:
        return NamedThings(self._state).row(reference)

    def _edited(self, row: int) -> list[SceneEvent]:
        self._state.table.record(row).provenance = _BY
        self._state.version += 1
        return [self._state.event(SceneEventKind.UPDATED, row)]


def _fits(record: ObjectRecord, object_id: str, area_id: str, object_class: str) -> bool:
    """Return whether a record has everything that is asked for; "" asks for nothing."""
    return (
        object_id in ("", record.id)
        and area_id in ("", record.area_id)
        and (not object_class or folded(record.best_class) == folded(object_class))
    )


# Edits that can be undone; the oldest goes first. An edit keeps what it changed alone.
KEPT_EDITS = 1000
_FIELDS = tuple(field.name for field in fields(ObjectRecord) if field.name != "classes")
_values = operator.attrgetter(*_FIELDS)
# Values with arrays are compared by identity: who changes them puts new ones in their place.
_BY_IDENTITY = frozenset({"embedding", "history", "crop_jpeg"})
Pairs = set[tuple[str, str]]


@dataclass(frozen=True)
class _Difference:
    """What an edit did. changed: old fields and columns by object, those alone that differ, and all of what has gone.

    came: ids of new objects. order: the ids as they were in order. apart, joined: pairs that were known to be two
    things and are no more, and the other way round. rooms: as they were, those that differ.
    """

    changed: dict[str, tuple[dict[str, Any], dict[str, Any]]]
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
        self.records = {one: state.table.record(row).copied() for one, row in self.row_of.items()}
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
            old = _different(self.records[one], table.record(now[one]))
            if old or one in columns:
                changed[one] = (old, columns.get(one, {}))
        for one, row in self.row_of.items():
            if one in now:
                continue
            whole = {name: column[row].copy() for name, column in self.columns.items()}
            record = self.records[one]
            changed[one] = ({**dict(zip(_FIELDS, _values(record))), "classes": record.classes}, whole)
        apart = _pairs(state)
        votes = {one for one in {*self.votes, *state.seen_apart} if self.votes.get(one) != state.seen_apart.get(one)}
        return _Difference(
            changed,
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
    restored = []
    for one, (old, columns) in edit.changed.items():
        has_gone = "id" in old
        if has_gone == (one in table.row_of):
            continue  # it has come back, or gone, since
        if has_gone:
            table.add(ObjectRecord(**old).copied())
        else:
            _restore_fields(state, one, old)
        restored.append((one, SceneEventKind.APPEARED if has_gone else SceneEventKind.UPDATED))
        for name, value in columns.items():
            getattr(table, name)[table.row_of[one]] = value
        _enter(state, one)
    for row in state.load_of(ROBOT_ID):
        state.index.take(row)
    _restore_pairs(state, edit)
    places.rooms.update({one: room for one, room in edit.rooms.items() if one in places.rooms})
    _reorder(table.row_of, edit.order)
    state.version += 1
    rows = ((table.row_of[one], kind) for one, kind in restored)
    return [*events, *(state.event(SceneEventKind.REMOVED if table.removed[row] else kind, row) for row, kind in rows)]


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


def _different(old: ObjectRecord, new: ObjectRecord) -> dict[str, Any]:
    """Return the fields of an older record that are others now, with their values of then."""
    differ = {
        name: then
        for name, then, value in zip(_FIELDS, _values(old), _values(new))
        if then is not value and (name in _BY_IDENTITY or bool(then != value))
    }
    return differ if old.classes == new.classes else {**differ, "classes": old.classes}


def _pairs(state: GraphState) -> Pairs:
    return {(one, other) for one, others in state.apart.items() for other in others}

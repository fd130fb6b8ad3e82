"""Corrections by a person: relabel, merge, split, delete, restore, name a room, forget; on record as the user's."""

from __future__ import annotations

import numpy as np

from memory_node.catalogue.class_name import folded
from memory_node.domain.errors import ConflictError, InvalidValueError
from memory_node.domain.scene import Room, SceneEvent, SceneEventKind
from memory_node.domain.states import log_odds
from memory_node.scene_graph.duplicates import merge_rows
from memory_node.scene_graph.named_things import NamedThings
from memory_node.scene_graph.object_table import ObjectRecord
from memory_node.scene_graph.places import Places
from memory_node.scene_graph.state import GraphState

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

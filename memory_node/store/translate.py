"""Turns the log's records into rows: of one object only the latest state in a batch, and only what changed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.scene import Area, Floor, Relation, Room, SceneEvent, SceneEventKind, SceneObject
from memory_node.domain.skill import StateChange
from memory_node.domain.step import EpisodeSummary, StepRecord
from memory_node.store import schema
from memory_node.store.records import Batch, Document, Recordable, Removed, Row
from memory_node.store.row_values import NAME_LIMIT, fault_of
from memory_node.store.rows import (
    MapRecord,
    appearance_row,
    document_rows,
    episode_row,
    map_row,
    object_row,
    place_row,
    state_change_row,
    step_row,
)
from memory_node.store.write_backlog import Ticket

# Primary keys without `site`, which every row of a batch shares.
KEYS = {table.name: tuple(c.name for c in table.primary_key if c.name != "site") for table in schema.LOGGED}
_CHECKED_VALUES = frozenset({"objects", "appearances", "places", "events"})
_WITHOUT_SESSION = frozenset({"appearances", "places"})


class Translator:
    """Makes rows for one robot's session; only the writer's thread translates."""

    def __init__(self, site: str, robot_id: str, session_id: str) -> None:
        self.origin = {"site": site, "robot_id": robot_id, "session_id": session_id}
        # What the rows in the database already say, by object id: embedding, crop, history.
        self._written: dict[str, tuple[Any, bytes, tuple[Any, ...]]] = {}
        # Sightings and misses of an object that other robots count; memory's own count includes them.
        self.foreign_counts: dict[str, tuple[int, int]] = {}

    def known(self, scene_object: SceneObject) -> None:
        """Note that the database holds this object as it is here."""
        self._written[scene_object.id] = (scene_object.embedding, scene_object.crop_jpeg, scene_object.history)

    def known_ids(self) -> list[str]:
        """Return the ids of all objects that were loaded, written or heard of."""
        return list({**self._written, **self.foreign_counts})

    def forget(self, object_ids: Iterable[str]) -> None:
        """Drop what is known of objects."""
        for object_id in object_ids:
            self._written.pop(object_id, None)
            self.foreign_counts.pop(object_id, None)

    def batch(
        self, records: Sequence[Recordable], reject: Callable[[int, InvalidValueError], None]
    ) -> tuple[Batch, dict[tuple[str, tuple[Any, ...]], int]]:
        """Return the rows of `records` and, by table and key, the record that each came from.

        reject: told the position of a record that has no stored form.
        """
        latest: dict[str, int] = {}
        for position, record in enumerate(records):
            if isinstance(record, SceneEvent):
                latest[record.object.id] = position
        batch: Batch = {}
        owners: dict[tuple[str, tuple[Any, ...]], int] = {}
        for position, record in enumerate(records):
            superseded = isinstance(record, SceneEvent) and latest[record.object.id] != position
            try:
                rows = self._rows(record, superseded)
                for table, row in rows:
                    _require_readable(table, {**self.origin, **row})
            except InvalidValueError as error:
                reject(position, error)
                continue
            for table, row in rows:
                # Databases do not know numpy's numbers, and stamps or counts may be some.
                plain = {name: value.item() if isinstance(value, np.generic) else value for name, value in row.items()}
                row = {**self.origin, **plain}
                if table in _WITHOUT_SESSION:
                    del row["session_id"]
                key = tuple(row[column] for column in KEYS[table])
                batch.setdefault(table, {})[key] = row
                owners[table, key] = position
        return batch, owners

    def _rows(self, record: Recordable, superseded: bool) -> list[tuple[str, Row]]:
        if isinstance(record, SceneEvent):
            return self._event_rows(record, superseded)
        if isinstance(record, StepRecord):
            return [("steps", step_row(record))]
        if isinstance(record, EpisodeSummary):
            return [("episodes", episode_row(record))]
        if isinstance(record, StateChange):
            return [("state_changes", state_change_row(record))]
        if isinstance(record, Document):
            row, supports = document_rows(record)
            return [("documents", row), *(("supports", support) for support in supports)]
        if isinstance(record, Removed):
            return [map_row(record.record, removed=True)]
        if isinstance(record, (Area, Room, Floor, Relation)):
            return [map_row(record)]
        raise InvalidValueError(f"the store keeps no {type(record).__name__}")

    def _event_rows(self, event: SceneEvent, superseded: bool) -> list[tuple[str, Row]]:
        scene_object = event.object
        rows: list[tuple[str, Row]] = []
        if event.kind is not SceneEventKind.UPDATED:
            stamp = {"object_id": scene_object.id, "stamp_ns": event.stamp_ns, "kind": event.kind.value}
            rows.append(("events", {**stamp, "into_id": event.into_id}))
        if superseded:
            return rows
        row = object_row(scene_object, event.into_id if event.kind is SceneEventKind.MERGED else "")
        if event.kind is SceneEventKind.REMOVED:
            row["removed"] = True
        foreign = self.foreign_counts.get(scene_object.id)
        if foreign is not None:
            row["times_seen"] = max(row["times_seen"] - foreign[0], 0)
            row["times_missed"] = max(row["times_missed"] - foreign[1], 0)
        rows.append(("objects", row))
        embedding, crop_jpeg, history = self._written.get(scene_object.id, (None, b"", ()))
        if crop_jpeg != scene_object.crop_jpeg or not _same(embedding, scene_object.embedding):
            rows.append(("appearances", appearance_row(scene_object)))
        if history is not scene_object.history:
            written = {id(place) for place in history}
            rows += [
                ("places", place_row(scene_object.id, place))
                for place in scene_object.history
                if id(place) not in written
            ]
        self.known(scene_object)
        return rows


def _require_readable(table: str, row: Row) -> None:
    """Look whether memory could start from a row, before anybody is told that it is kept.

    Of objects, whose values are checked where they are made, only long texts are looked at: it costs a tenth.
    """
    if table in _CHECKED_VALUES and max(len(value) for value in row.values() if isinstance(value, str)) <= NAME_LIMIT:
        return
    fault = fault_of(table, SimpleNamespace(**row))
    if fault:
        raise InvalidValueError(f"{table}: memory could not start from this: {fault}")


def _same(old: Any, new: Any) -> bool:
    if old is None or new is None:
        return old is new
    return old is new or np.array_equal(old, new)


class WrittenMap:
    """The floors, rooms, areas and relations that the store holds. Safe to use from several threads."""

    def __init__(self) -> None:
        self._records: dict[tuple[str, ...], MapRecord] = {}
        self._lock = threading.Lock()

    def note(self, records: Iterable[MapRecord]) -> None:
        """Take over what was read: that is written already."""
        with self._lock:
            self._records = {_key(record): record for record in records}

    def replace(self, records: Iterable[MapRecord], append: Callable[[Sequence[Recordable]], Ticket]) -> Ticket:
        """Make these the whole map: append what changed, and the removal of what is absent now; return its receipt."""
        wanted = {_key(record): record for record in records}
        with self._lock:
            changed: list[Recordable] = [record for key, record in wanted.items() if self._records.get(key) != record]
            gone = [Removed(record) for key, record in self._records.items() if key not in wanted]
            ticket = append([*changed, *gone])
            self._records = wanted
        return ticket


def _key(record: MapRecord) -> tuple[str, ...]:
    if isinstance(record, Relation):
        return "Relation", record.source_id, record.kind.value, record.target_id
    return type(record).__name__, record.id

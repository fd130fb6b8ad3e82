"""Carries out a plan in one database: deletes rows, blackens texts that mention them, and sets tombstones."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from memory_node.domain.errors import InvalidValueError
from memory_node.store import schema
from memory_node.store.apply import add_rows, tombstone_of
from memory_node.store.checksums import sealed
from memory_node.store.copying import update_row
from memory_node.store.forget_plan import ForgetPlan, ForgetRequest, Terms, rows_mentioning
from memory_node.store.records import Row, step_key, to_json

# Rows without a session: every robot is told of the change, also their writer.
_NO_SESSION = ""
_CHUNK = 500

# Columns of other records that may name what goes: ids (emptied), texts (blackened), JSON lists and documents.
_NAMES: dict[str, tuple[str, ...]] = {
    "objects": ("support_id", "merged_into"),
    "places": ("support_id",),
    "events": ("into_id",),
    "steps": ("held_object",),
}
_TEXTS: dict[str, tuple[str, ...]] = {
    "episodes": ("instruction", "task_type"),
    "steps": ("message", "room", "area"),
    "areas": ("name",),
    "rooms": ("name",),
    "floors": ("name",),
}
_LISTS: dict[str, tuple[str, ...]] = {"steps": ("visible", "relations")}
_BODIES: dict[str, tuple[str, ...]] = {"state_changes": ("body",), "documents": ("body",), "objects": ("body",)}


class RowForgetter:
    """One forgetting in one transaction."""

    def __init__(
        self, connection: Connection, site: str, request: ForgetRequest, plan: ForgetPlan, revision: int
    ) -> None:
        self._connection = connection
        self._site = site
        self._request = request
        self._plan = plan
        self._revision = revision
        self.counts: Counter[str] = Counter()
        self.blackened = 0

    def run(self, stamp_ns: int) -> None:
        """Delete, blacken, and set the tombstones."""
        self._delete_planned()
        self._delete_by_scope()
        self._delete_quarantined()
        self._blacken()
        self._bury(stamp_ns)

    def _delete(self, table: sa.Table, *conditions: Any) -> None:
        result = self._connection.execute(table.delete().where(table.c.site == self._site, *conditions))
        self.counts[table.name] += result.rowcount

    def _delete_among(self, table: sa.Table, column: sa.Column, ids: Iterable[str], *conditions: Any) -> None:
        listed = sorted(ids)
        for start in range(0, len(listed), _CHUNK):
            self._delete(table, column.in_(listed[start : start + _CHUNK]), *conditions)

    def _delete_keys(self, table: sa.Table, names: Sequence[str], keys: Iterable[tuple[Any, ...]]) -> None:
        """Delete the rows of which these columns have these values, one statement for all."""
        rows = [dict(zip((f"key_{name}" for name in names), key)) for key in sorted(keys)]
        if rows:
            chosen = [table.c[name] == sa.bindparam(f"key_{name}") for name in names]
            self._connection.execute(table.delete().where(table.c.site == self._site, *chosen), rows)

    def _delete_planned(self) -> None:
        plan = self._plan
        self._delete_among(schema.objects, schema.objects.c.id, plan.objects)
        for table in (schema.appearances, schema.places, schema.events, schema.state_changes):
            self._delete_among(table, table.c.object_id, plan.objects)
        for column in (schema.relations.c.source_id, schema.relations.c.target_id):
            self._delete_among(schema.relations, column, plan.objects)
        self._delete_among(schema.episodes, schema.episodes.c.id, plan.episodes)
        alone = {key for key in plan.steps if key[0] not in plan.episodes}
        self._delete_among(schema.steps, schema.steps.c.episode_id, plan.episodes)
        self._delete_keys(schema.steps, ("episode_id", "step_index"), alone)
        self._delete_keys(schema.documents, ("kind", "id"), plan.documents)
        names = ("record_kind", "record_id", "source_kind", "source_id")
        self._delete_keys(schema.supports, names, plan.supports)
        for name, keys in (("steps", alone), ("documents", plan.documents), ("supports", plan.supports)):
            self.counts[name] += len(keys)

    def _delete_by_scope(self) -> None:
        request = self._request
        if request.area_id:
            self._delete(schema.places, schema.places.c.area_id == request.area_id)
        if request.robot_id:
            seen = (schema.objects, schema.appearances, schema.places, schema.events, schema.state_changes)
            for table in (*seen, schema.documents, schema.sessions):
                self._delete(table, table.c.robot_id == request.robot_id)
            self._disown_map()
        if request.from_ns or request.until_ns:
            places, changes, events = schema.places, schema.state_changes, schema.events
            span = (request.from_ns, request.until_ns)
            self._delete(places, places.c.since_ns >= span[0], places.c.until_ns <= span[1])
            self._delete(changes, changes.c.stamp_ns.between(*span))
            self._delete(events, events.c.stamp_ns.between(*span))
            self._take_back_span()

    def _delete_quarantined(self) -> None:
        """Rows that cannot be read go when they mention it; all of them, when only reading could tell."""
        table = schema.quarantine
        if self._request.scope in ("time span", "robot id", "area id"):
            self._delete(table)
            return
        found = rows_mentioning(self._connection, self._site, table, ("row_key", "content"), self._plan.traces)
        self._delete_among(table, table.c.id, {row["id"] for row in found})

    def _disown_map(self) -> None:
        # Rooms and ways are the site's, whoever drew them last; only who did is forgotten.
        for table in (schema.floors, schema.rooms, schema.areas, schema.relations, schema.supports):
            mine = (table.c.site == self._site, table.c.robot_id == self._request.robot_id)
            for row in self._connection.execute(sa.select(table).where(*mine)).mappings().all():
                nobody = {**row, "robot_id": "", "session_id": _NO_SESSION}
                update_row(self._connection, table, row, sealed(table, nobody))

    def _take_back_span(self) -> None:
        """Objects that were also seen before or after: what the span alone told of them goes."""
        objects = schema.objects
        span = (self._request.from_ns, self._request.until_ns)
        stamps = (objects.c.first_seen_ns, objects.c.last_seen_ns, objects.c.last_missed_ns)
        touched = sa.or_(*(stamp.between(*span) for stamp in stamps))
        query = sa.select(objects).where(objects.c.site == self._site, touched)
        for row in self._connection.execute(query).mappings().all():
            body = _json(row["body"])
            body["states"] = [state for state in body.get("states", ()) if not self._request.in_span(state[2])]
            if body.get("placed_ns") and self._request.in_span(body["placed_ns"]):
                body["placed_ns"] = span[1] + 1
            changes: Row = {"body": to_json(body)}
            if self._request.in_span(row["first_seen_ns"]):
                changes["first_seen_ns"] = span[1] + 1
            if self._request.in_span(row["last_missed_ns"]):
                changes["last_missed_ns"] = 0
            if self._request.in_span(row["last_seen_ns"]):
                changes["last_seen_ns"] = max(span[0] - 1, row["first_seen_ns"])
                changes.update(self._place_before(row))
            self._update(objects, row, changes)
        places = schema.places
        later = (places.c.site == self._site, places.c.since_ns.between(*span), places.c.until_ns > span[1])
        for row in self._connection.execute(sa.select(places).where(*later)).mappings().all():
            moved = sealed(places, {**row, "since_ns": span[1] + 1})
            update_row(self._connection, places, row, moved)

    def _place_before(self, row: Any) -> Row:
        """Return the columns of where an object was before it was moved in the span; none if it was not."""
        places = schema.places
        mine = (places.c.site == self._site, places.c.object_id == row["id"], places.c.robot_id == row["robot_id"])
        left = places.c.until_ns.between(self._request.from_ns, self._request.until_ns)
        before = self._connection.execute(sa.select(places).where(*mine, left).order_by(places.c.since_ns)).first()
        if before is None:
            return {}
        self._delete(places, *mine, places.c.since_ns == before.since_ns)
        x, y, z = (float(value) for value in np.frombuffer(before.geometry, "<f8")[:3])
        # The covariance stays: how well its cameras place things is no secret of that time.
        geometry = before.geometry + row["geometry"][len(before.geometry) :]
        where = {"area_id": before.area_id, "support_id": before.support_id}
        return {"x": x, "y": y, "z": z, "geometry": geometry, **where}

    def _update(self, table: sa.Table, row: Any, changes: Row) -> None:
        """Change a row of which at least the key is given; one that has no valid form any more is deleted."""
        key = [column == row[column.name] for column in table.primary_key]
        whole = self._connection.execute(sa.select(table).where(*key)).mappings().one()
        changed: Row = {**whole, **changes, "revision": self._revision}
        if "session_id" in table.c:
            changed["session_id"] = _NO_SESSION
        try:
            update_row(self._connection, table, row, sealed(table, changed))
        except InvalidValueError:
            self._connection.execute(table.delete().where(*key))

    def _blacken(self) -> None:
        terms = self._plan.traces
        if not terms:
            return
        for table in schema.LOGGED:
            names = [name for group in (_NAMES, _TEXTS, _LISTS, _BODIES) for name in group.get(table.name, ())]
            if not names:
                continue
            for row in list(rows_mentioning(self._connection, self._site, table, names, terms)):
                changes = _blackened(table.name, row, terms)
                if changes:
                    self._update(table, row, changes)
                    self.blackened += 1

    def _bury(self, stamp_ns: int) -> None:
        plan = self._plan
        # A step of an episode that goes needs no tombstone of its own.
        names = plan.sources() - {("step", step_key(*key)) for key in plan.steps if key[0] in plan.episodes}
        rows = [
            {
                "site": self._site,
                "kind": kind,
                "id": tombstone_of(kind, record_id),
                "revision": self._revision,
                "stamp_ns": stamp_ns,
            }
            for kind, record_id in sorted(names)
        ]
        add_rows(self._connection, schema.tombstones, [sealed(schema.tombstones, row) for row in rows])


def _blackened(table: str, row: Row, terms: Terms) -> Row:
    changes: Row = {}
    for name in _NAMES.get(table, ()):
        if terms.found_in(row[name]):
            changes[name] = ""
    for name in _TEXTS.get(table, ()):
        changes[name] = terms.blacken(row[name])
    for name in _LISTS.get(table, ()):
        listed = _json(row[name])
        entries = listed if isinstance(listed, list) else []
        changes[name] = to_json([entry for entry in entries if isinstance(entry, str) and not terms.found_in(entry)])
    for name in _BODIES.get(table, ()):
        changes[name] = to_json(terms.blacken_value(_json(row[name])))
    return {name: value for name, value in changes.items() if value != row[name]}


def _json(text: str) -> Any:
    """Return what a JSON column says; nothing for one that is damaged and may say anything."""
    try:
        return json.loads(text)
    except ValueError:
        return {}

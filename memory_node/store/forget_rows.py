"""Carries out a plan in one database: deletes rows, blackens texts that mention them, and sets tombstones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from memory_node.domain.errors import InvalidValueError
from memory_node.store import schema
from memory_node.store.apply import add_rows, next_revision, tombstone_of
from memory_node.store.checksums import sealed
from memory_node.store.copying import update_row
from memory_node.store.forget_plan import ForgetPlan, ForgetRequest, json_within, rows_mentioning
from memory_node.store.records import Row, to_json

# Rows without a session: every robot is told of the change, also their writer.
_NO_SESSION = ""
_CHUNK = 500

# Columns of other records that may name what goes: ids, which are emptied, and texts, which may be JSON.
_MENTIONING: dict[str, tuple[str, ...]] = {
    "objects": ("support_id", "merged_into", "body"),
    "places": ("support_id",),
    "events": ("into_id",),
    "state_changes": ("body",),
    "episodes": ("instruction", "task_type"),
    "steps": ("held_object", "message", "room", "area", "visible", "relations"),
    "documents": ("body",),
    **dict.fromkeys(("areas", "rooms", "floors"), ("name",)),
}
_IDS = frozenset({"support_id", "merged_into", "into_id", "held_object"})


class RowForgetter:
    """One forgetting in one transaction; counts: rows deleted by table, blackened: rows whose texts were."""

    def __init__(self, connection: Connection, site: str, request: ForgetRequest) -> None:
        self._connection = connection
        self._site = site
        self._request = request
        self.revision = next_revision(connection, site)
        self.plan = ForgetPlan(connection, site, request)
        self.counts: Counter[str] = Counter()
        self.blackened = 0

    @property
    def touched(self) -> bool:
        """Whether there was anything to forget."""
        return bool(self.counts or self.blackened)

    def run(self, stamp_ns: int) -> None:
        """Delete, blacken, and set the tombstones."""
        self._delete_planned()
        self._delete_told()
        self._blacken()
        self._bury(stamp_ns)

    def _delete(self, table: sa.Table, *conditions: Any) -> None:
        result = self._connection.execute(table.delete().where(table.c.site == self._site, *conditions))
        if result.rowcount:
            self.counts[table.name] += result.rowcount

    def _delete_among(self, table: sa.Table, names: tuple[str, ...], keys: Iterable[tuple[Any, ...]]) -> None:
        """Delete the rows of which these columns have one of these values."""
        listed, columns = sorted(keys), sa.tuple_(*(table.c[name] for name in names))
        for start in range(0, len(listed), _CHUNK):
            self._delete(table, columns.in_(listed[start : start + _CHUNK]))

    def _delete_planned(self) -> None:
        plan = self.plan
        for kind, ids in (("object", plan.objects), ("episode", plan.episodes)):
            for name, columns in schema.OWNERS[kind].items():
                for column in columns:
                    self._delete_among(schema.metadata.tables[name], (column,), ((id_,) for id_ in ids))
        self._delete_among(schema.steps, ("episode_id", "step_index"), plan.steps)
        self._delete_among(schema.documents, ("kind", "id"), plan.documents)
        self._delete_among(schema.supports, ("record_kind", "record_id"), plan.documents)
        self._delete_among(schema.supports, ("source_kind", "source_id"), plan.supporting)

    def _delete_told(self) -> None:
        """Delete what goes whatever it is about; what other robots or times told as well goes on without it."""
        told = [schema.places, schema.events, schema.state_changes]
        if self._request.robot_id:
            told += [schema.objects, schema.appearances, schema.documents, schema.sessions]
            # Rooms and ways are the site's, whoever drew them last; only who did is forgotten.
            for table in (schema.floors, schema.rooms, schema.areas, schema.relations, schema.supports):
                for row in self._rows(table, self._request.told_of(table)):
                    self._update(table, row, {"robot_id": ""})
        for table in told:
            self._delete(table, self._request.told_of(table))
        if self._request.span:
            self._take_back_span()

    def _rows(self, table: sa.Table, *conditions: Any) -> Sequence[Any]:
        query = sa.select(table).where(table.c.site == self._site, *conditions)
        return self._connection.execute(query).mappings().all()

    def _take_back_span(self) -> None:
        """Objects that were also seen before or after: what the span alone told of them goes."""
        objects, places, span = schema.objects, schema.places, self._request.span
        stamps = (objects.c.first_seen_ns, objects.c.last_seen_ns, objects.c.last_missed_ns)
        for row in self._rows(objects, sa.or_(*(stamp.between(span.start, span.stop - 1) for stamp in stamps))):
            body = json_within(row["body"]) or {}
            body["states"] = [state for state in body.get("states", ()) if state[2] not in span]
            if body.get("placed_ns") and body["placed_ns"] in span:
                body["placed_ns"] = span.stop
            changes: Row = {"body": to_json(body)}
            if row["first_seen_ns"] in span:
                changes["first_seen_ns"] = span.stop
            if row["last_missed_ns"] in span:
                changes["last_missed_ns"] = 0
            if row["last_seen_ns"] in span:
                changes["last_seen_ns"] = max(span.start - 1, row["first_seen_ns"])
                changes.update(self._place_before(row))
            self._update(objects, row, changes)
        for row in self._rows(places, places.c.since_ns.between(span.start, span.stop - 1)):
            self._update(places, row, {"since_ns": span.stop})

    def _place_before(self, row: Any) -> Row:
        """Take out where an object was before it was moved in the span, as columns; none if it was not moved."""
        places, span = schema.places, self._request.span
        mine = (places.c.object_id == row["id"], places.c.robot_id == row["robot_id"])
        left = self._rows(places, *mine, places.c.until_ns.between(span.start, span.stop - 1))
        if not left:
            return {}
        before = min(left, key=lambda place: place["since_ns"])
        self._delete(places, *mine, places.c.since_ns == before["since_ns"])
        x, y, z = (float(value) for value in np.frombuffer(before["geometry"], "<f8")[:3])
        # The covariance stays: how well its cameras place things is no secret of that time.
        geometry = before["geometry"] + row["geometry"][len(before["geometry"]) :]
        where = {"area_id": before["area_id"], "support_id": before["support_id"]}
        return {"x": x, "y": y, "z": z, "geometry": geometry, **where}

    def _update(self, table: sa.Table, row: Any, changes: Row) -> None:
        """Change a row of which at least the key is given; one that has no valid form any more is deleted."""
        key = [column == row[column.name] for column in table.primary_key]
        whole = self._connection.execute(sa.select(table).where(*key)).mappings().one()
        changed: Row = {**whole, **changes, "revision": self.revision}
        if "session_id" in table.c:
            changed["session_id"] = _NO_SESSION
        try:
            update_row(self._connection, table, row, sealed(table, changed))
        except InvalidValueError:
            self._connection.execute(table.delete().where(*key))

    def _blacken(self) -> None:
        terms = self.plan.traces
        for name, columns in _MENTIONING.items():
            table = schema.metadata.tables[name]
            for row in list(rows_mentioning(self._connection, self._site, table, columns, terms)):
                found = [column for column in columns if terms.found_in(row[column])]
                blackened = {column: "" if column in _IDS else terms.blacken(row[column]) for column in found}
                if any(text != row[column] for column, text in blackened.items()):
                    self._update(table, row, blackened)
                    self.blackened += 1

    def _bury(self, stamp_ns: int) -> None:
        stamps = {"site": self._site, "revision": self.revision, "stamp_ns": stamp_ns}
        rows = [{"kind": kind, "id": tombstone_of(kind, id_), **stamps} for kind, id_ in sorted(self.plan.sources())]
        add_rows(self._connection, schema.tombstones, [sealed(schema.tombstones, row) for row in rows])

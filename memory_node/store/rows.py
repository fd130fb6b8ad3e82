"""Map, episodes, steps and documents as rows and back; rows carry no origin yet (see `writer`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.ids import new_id
from memory_node.domain.scene import Area, Floor, Relation, RelationKind, Room
from memory_node.domain.skill import FailureReason, SkillCall, StateChange
from memory_node.domain.step import EpisodeSummary, StepRecord
from memory_node.store import schema
from memory_node.store.bad_rows import BadRows
from memory_node.store.checksums import SEALS
from memory_node.store.records import Document, Row, to_json
from memory_node.store.row_values import (
    NAME_LIMIT,
    TEXT_LIMIT,
    UNREADABLE,
    check_names_json,
    check_step_numbers,
    fault_of,
)

MapRecord = Area | Room | Floor | Relation


_MAP_TABLES: dict[type, str] = {Area: "areas", Room: "rooms", Floor: "floors", Relation: "relations"}
# Fields that are points of the map: two columns x and y.
_POINTS = ("position", "center")


def map_row(record: MapRecord, removed: bool = False) -> tuple[str, Row]:
    """Return the table and the row of an area, room, floor or relation."""
    row: Row = {"removed": removed}
    for name, value in vars(record).items():
        if name in _POINTS:
            row["x"], row["y"] = map(float, value)
        else:
            row[name] = value.value if isinstance(value, RelationKind) else value
    return _MAP_TABLES[type(record)], row


def area_of(row: Any) -> Area:
    """Return the area of a row."""
    return Area(row.id, row.name, (row.x, row.y), row.floor_id, row.room_id, row.last_viewed_ns)


def room_of(row: Any) -> Room:
    """Return the room of a row."""
    return Room(row.id, row.name, row.floor_id, (row.x, row.y), row.area_m2, bool(row.named_by_user))


def floor_of(row: Any) -> Floor:
    """Return the floor of a row."""
    return Floor(row.id, row.name, row.height_m)


def relation_of(row: Any) -> Relation:
    """Return the relation of a row."""
    return Relation(row.source_id, RelationKind(row.kind), row.target_id, row.distance_m, row.probability)


def state_change_row(change: StateChange) -> Row:
    """Return the row of `state_changes`, under a fresh id; its body has what is no column."""
    body = dict(vars(change))
    object_id, stamp_ns = body.pop("object_id"), body.pop("stamp_ns")
    return {"id": new_id(), "object_id": object_id, "stamp_ns": stamp_ns, "body": to_json(body)}


def episode_row(episode: EpisodeSummary) -> Row:
    """Return the row of `episodes`; a robot id of its own goes before the store's."""
    left_out = {"message", *(() if episode.robot_id else ("robot_id",))}
    return {name: value for name, value in vars(episode).items() if name not in left_out}


def episode_of(row: Any) -> EpisodeSummary:
    """Return the episode of a row."""
    success = None if row.success is None else bool(row.success)
    return EpisodeSummary(
        row.id, row.instruction, row.task_type, row.started_ns, row.ended_ns, success, row.attempt, row.robot_id
    )


def step_row(step: StepRecord) -> Row:
    """Return the row of `steps`."""
    x, y, z = step.position
    return {
        "episode_id": step.episode_id,
        "step_index": step.index,
        "stamp_ns": step.stamp_ns,
        "skill": step.action.skill,
        "arguments": to_json(step.action.arguments),
        "success": step.success,
        "reason": step.reason.value,
        "message": step.message,
        "held_object": step.held_object,
        "room": step.room,
        "area": step.area,
        "x": float(x),
        "y": float(y),
        "z": float(z),
        "visible": to_json(step.visible),
        "relations": to_json(step.relations),
        "duration_s": float(step.duration_s),
        "distance_m": float(step.distance_m),
    }


_REASONS = {reason.value: reason for reason in FailureReason}


@lru_cache(maxsize=16384)
def _call(skill: str, arguments: str) -> SkillCall:
    return SkillCall(skill, check_names_json(arguments))


@lru_cache(maxsize=16384)
def _names(text: str) -> tuple[str, ...]:
    return check_names_json(text)


def steps_from_rows(rows: Iterable[Any], bad: BadRows) -> Iterator[StepRecord]:
    """Yield the steps of whole rows of `steps`, but those that are no steps.

    Fields are set without the frozen class's slow path: a start reads a million of these.
    """
    new, set_attribute, table = object.__new__, object.__setattr__, schema.steps
    checksum_fault = SEALS[table.name].fault
    for row in rows:
        fault = checksum_fault(row)
        if fault:
            bad.note(table, row, fault)
            continue
        (_, episode_id, index, _, _, _, stamp_ns, skill, arguments, success, reason, message, held) = row[:13]
        (room, area, x, y, z, visible, relations, duration_s, distance_m, _) = row[13:]
        try:
            check_step_numbers(stamp_ns, x, y, z, duration_s, distance_m)
            fields = {
                "episode_id": episode_id,
                "index": index,
                "action": _call(skill, arguments),
                "success": bool(success),
                "reason": _REASONS[reason],
                "stamp_ns": stamp_ns,
                "message": message,
                "held_object": held,
                "room": room,
                "area": area,
                "position": (x, y, z),
                "visible": _names(visible),
                "relations": _names(relations),
                "duration_s": duration_s,
                "distance_m": distance_m,
            }
            lengths = max(len(episode_id), len(held), len(room), len(area), len(message) - TEXT_LIMIT)
            if index < 0 or lengths > NAME_LIMIT:
                raise InvalidValueError("expected an index of 0 or more, and texts of a name's length")
        except UNREADABLE as error:
            bad.note(table, row, fault_of(table.name, row) or str(error))
            continue
        step = new(StepRecord)
        set_attribute(step, "__dict__", fields)
        yield step


def document_rows(document: Document) -> tuple[Row, list[Row]]:
    """Return the row of `documents` and those of `supports`."""
    row = {
        "kind": document.kind,
        "id": document.id,
        "stamp_ns": document.stamp_ns,
        "removed": document.removed,
        "body": to_json(dict(document.body)),
    }
    supports = [
        {
            "record_kind": document.kind,
            "record_id": document.id,
            "source_kind": kind,
            "source_id": source_id,
            "stamp_ns": document.stamp_ns,
        }
        for kind, source_id in document.sources
    ]
    return row, supports

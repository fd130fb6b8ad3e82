"""Objects, map, episodes, steps and documents as rows and back; rows carry no origin yet (see `translate`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from functools import lru_cache
from typing import Any

import numpy as np

from memory_node.domain.errors import InvalidValueError
from memory_node.domain.geometry import OrientedBox
from memory_node.domain.ids import new_id
from memory_node.domain.scene import Area, Floor, Place, Relation, RelationKind, Room, SceneObject
from memory_node.domain.skill import FailureReason, SkillCall, StateChange
from memory_node.domain.states import StateBelief
from memory_node.domain.step import EpisodeSummary, StepRecord
from memory_node.store import schema
from memory_node.store.bad_rows import BadRows
from memory_node.store.checksums import SEALS
from memory_node.store.records import Belief, Document, Row, to_json
from memory_node.store.row_values import (
    NAME_LIMIT,
    TEXT_LIMIT,
    UNREADABLE,
    check_names_json,
    check_step_numbers,
    fault_of,
)


def object_row(scene_object: SceneObject, merged_into: str = "") -> Row:
    """Return the row of `objects`, without origin."""
    box = scene_object.box
    center = box.center
    geometry = np.concatenate([center, box.size, [box.yaw_rad], scene_object.covariance.ravel()])
    return {
        "id": scene_object.id,
        "class_name": scene_object.class_name,
        "x": float(center[0]),
        "y": float(center[1]),
        "z": float(center[2]),
        "existence": float(scene_object.existence),
        "area_id": scene_object.area_id,
        "support_id": scene_object.support_id,
        "merged_into": merged_into,
        "removed": scene_object.removed,
        "first_seen_ns": scene_object.first_seen_ns,
        "last_seen_ns": scene_object.last_seen_ns,
        "last_missed_ns": scene_object.last_missed_ns,
        "times_seen": scene_object.times_seen,
        "times_missed": scene_object.times_missed,
        "geometry": geometry.astype("<f8").tobytes(),
        "body": to_json(
            {
                "classes": scene_object.class_probabilities,
                "movable": scene_object.movable,
                "inside": scene_object.inside,
                "anchor": scene_object.anchor,
                "provenance": scene_object.provenance,
                "states": [belief.as_row() for belief in scene_object.states],
                "attributes": scene_object.attributes,
                "name": scene_object.name,
                "aliases": list(scene_object.aliases),
                "placed_ns": scene_object.placed_ns,
            }
        ),
    }


def appearance_row(scene_object: SceneObject) -> Row:
    """Return the row of `appearances`, without origin."""
    embedding = scene_object.embedding
    return {
        "object_id": scene_object.id,
        "embedding": b"" if embedding is None else np.asarray(embedding, dtype="<f4").tobytes(),
        "crop_jpeg": scene_object.crop_jpeg,
    }


def place_row(object_id: str, place: Place) -> Row:
    """Return the row of `places`, without origin."""
    box = place.box
    return {
        "object_id": object_id,
        "since_ns": place.since_ns,
        "until_ns": place.until_ns,
        "area_id": place.area_id,
        "support_id": place.support_id,
        "geometry": np.concatenate([box.center, box.size, [box.yaw_rad]]).astype("<f8").tobytes(),
    }


def _box(numbers: np.ndarray) -> OrientedBox:
    # The row was checked; the constructor's checks of 100,000 rows would cost a start several seconds.
    box = object.__new__(OrientedBox)
    box.__dict__.update(center=numbers[0:3], size=numbers[3:6], yaw_rad=float(numbers[6]))
    return box


def place_of(row: Any) -> Place:
    """Return the place of a checked row of `places`."""
    numbers = np.frombuffer(row.geometry, dtype="<f8")
    return Place(row.since_ns, row.until_ns, _box(numbers), row.area_id, row.support_id)


def belief_of(
    row: Any, body: Mapping[str, Any], look: tuple[bytes, bytes] = (b"", b""), places: tuple[Place, ...] = ()
) -> Belief:
    """Return the belief of a checked row of `objects`; body: what its JSON says, look: embedding and picture."""
    numbers = np.frombuffer(row.geometry, dtype="<f8")
    embedding, crop_jpeg = look
    scene_object = object.__new__(SceneObject)
    scene_object.__dict__.update(
        id=row.id,
        class_probabilities=body["classes"],
        box=_box(numbers),
        covariance=numbers[7:16].reshape(3, 3),
        existence=row.existence,
        first_seen_ns=row.first_seen_ns,
        last_seen_ns=row.last_seen_ns,
        last_missed_ns=row.last_missed_ns,
        times_seen=row.times_seen,
        times_missed=row.times_missed,
        movable=body["movable"],
        area_id=row.area_id,
        support_id=row.support_id,
        inside=body["inside"],
        anchor=body["anchor"],
        removed=bool(row.removed),
        states=tuple(map(StateBelief.of_row, body["states"])),
        embedding=np.frombuffer(embedding, dtype="<f4") if embedding else None,
        crop_jpeg=crop_jpeg,
        history=places,
        provenance=body["provenance"],
        attributes=body["attributes"],
        # The first release gave no names; a scene that is loaded gives them.
        name=body.get("name", ""),
        aliases=tuple(body.get("aliases", ())),
        placed_ns=int(body.get("placed_ns", 0)),
    )
    return Belief(row.robot_id, scene_object, row.merged_into)


MapRecord = Area | Room | Floor | Relation


MAP_TABLES: dict[type[MapRecord], str] = {Floor: "floors", Room: "rooms", Area: "areas", Relation: "relations"}
_FIELDS = {kind: tuple(field.name for field in fields(kind)) for kind in MAP_TABLES}
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
    return MAP_TABLES[type(record)], row


def map_record(kind: type[MapRecord], row: Any) -> MapRecord:
    """Return the area, room, floor or relation of a row."""
    values: dict[str, Any] = {n: (row.x, row.y) if n in _POINTS else getattr(row, n) for n in _FIELDS[kind]}
    if kind is Relation:
        values["kind"] = RelationKind(row.kind)
    return kind(**values)


def state_change_row(change: StateChange) -> Row:
    """Return the row of `state_changes`, under a fresh id; its body has what is no column."""
    body = dict(vars(change))
    object_id, stamp_ns = body.pop("object_id"), body.pop("stamp_ns")
    return {"id": new_id(), "object_id": object_id, "stamp_ns": stamp_ns, "body": to_json(body)}


def episode_row(episode: EpisodeSummary) -> Row:
    """Return the row of `episodes`; a robot id of its own goes before the store's."""
    kept = {column.name for column in schema.episodes.c} - (set() if episode.robot_id else {"robot_id"})
    return {name: value for name, value in vars(episode).items() if name in kept}


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

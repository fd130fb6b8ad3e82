"""The graph as JSON-able rows, by which replays are compared; and how stored objects are entered into a graph."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from memory_node.domain.geometry import OrientedBox
from memory_node.domain.scene import RelationKind, SceneObject, SceneSnapshot
from memory_node.domain.states import log_odds
from memory_node.scene_graph.object_table import ObjectRecord, ObjectTable
from memory_node.scene_graph.places import Places
from memory_node.scene_graph.state import ROBOT_ID, GraphState

Record = dict[str, Any]


def graph_to_records(state: GraphState, places: Places) -> Record:
    """Return the whole graph: lists of rows under objects, areas, rooms, floors, paths, keyframes. Keys are stable."""
    return {
        "objects": [_row_to_record(state, row) for row in state.table.rows()],
        "areas": [asdict(area) for area in places.areas.values()],
        "rooms": [asdict(room) for room in places.rooms.values()],
        "floors": [asdict(floor) for floor in places.floors.values()],
        "paths": [[one, other, length] for (one, other), length in places.paths.items()],
        "keyframes": {
            name: [*pose.position.tolist(), *pose.quaternion.tolist()] for name, pose in state.keyframes.items()
        },
        "now_ns": state.now_ns,
        "version": state.version,
        "last_names": state.table.names.last,
    }


def _row_to_record(state: GraphState, row: int) -> Record:
    """Return one object's row; the key "filter" holds what SceneObject does not show. Pictures are base64, embeddings
    base64 of little-endian float16."""
    table, record, found = state.table, state.table.record(row), state.object_at(row)
    plain = dict(vars(found))
    classes, box, embedding = plain.pop("class_probabilities"), plain.pop("box"), found.embedding
    return {
        **plain,
        "classes": classes,
        **_box_record(box),
        "covariance": found.covariance.tolist(),
        "states": [list(belief.as_row()) for belief in found.states],
        "embedding": "" if embedding is None else _base64(embedding.astype("<f2").tobytes()),
        "crop_jpeg": _base64(found.crop_jpeg),
        "history": [
            {
                "since_ns": place.since_ns,
                "until_ns": place.until_ns,
                **_box_record(place.box),
                "area_id": place.area_id,
                "support_id": place.support_id,
            }
            for place in found.history
        ],
        "filter": {
            "log_odds": float(table.log_odds[row]),
            "face_variance": table.face_variance[row].tolist(),
            "yaw_weight": float(table.yaw_weight[row]),
            "porosity": float(table.porosity[row]),
            "class_weight": sum(record.classes.values()),
            "anchors": [list(anchor) for anchor in record.anchors],
            "crop_pixels": record.crop_pixels,
            "put_at": list(record.put_at) if record.put_at else None,
        },
    }


def _box_record(box: OrientedBox) -> Record:
    return {"center": box.center.tolist(), "size": box.size.tolist(), "yaw_rad": box.yaw_rad}


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def records_hash(records: Mapping[str, Any]) -> str:
    """Return a SHA-256 over rows in a canonical order of keys: equal graphs give equal hashes."""
    return hashlib.sha256(json.dumps(records, sort_keys=True).encode()).hexdigest()


def enter_object(state: GraphState, found: SceneObject) -> int:
    """Enter an object and return its row; how sure its faces and classes are is guessed from how often it was seen."""
    weight = min(4.0, max(1.0, float(found.times_seen)))
    record = ObjectRecord(
        found.id,
        {name: probability * weight for name, probability in found.class_probabilities.items()},
        found.class_name,
        area_id=found.area_id,
        movable=found.movable,
        states=found.states,
        embedding=None if found.embedding is None else found.embedding.astype(np.float16),
        crop_jpeg=found.crop_jpeg,
        history=found.history,
        provenance=found.provenance,
        attributes=dict(found.attributes) or None,
        name=found.name,
        aliases=found.aliases,
    )
    table = state.table
    row = table.add(record)
    table.center[row], table.size[row], table.yaw[row] = found.box.center, found.box.size, found.box.yaw_rad
    table.first_seen[row], table.last_seen[row] = found.first_seen_ns, found.last_seen_ns
    _enter_misses(table, row, found)
    table.times_seen[row], table.place_since[row] = found.times_seen, found.place_since_ns
    existence = min(max(found.existence, 1e-4), 1.0 - 1e-4)
    table.log_odds[row] = log_odds(existence)
    table.face_variance[row] = 2.0 * np.diagonal(found.covariance)
    table.yaw_weight[row] = min(20.0, float(found.times_seen))
    record.anchors = ((found.anchor, 1.0),) if found.anchor else ()
    if found.times_seen >= state.config.confirmed_sightings:
        state.learn_size(row)
    if found.removed:
        table.removed[row] = True
        # Some releases kept how sure they had been before they knew that it is gone.
        table.log_odds[row] = min(float(table.log_odds[row]), log_odds(state.config.removed_existence))
    elif found.support_id != ROBOT_ID:
        state.place(row)
    record.support_id, record.inside = found.support_id, found.inside
    if found.support_id:
        state.contents.setdefault(found.support_id, set()).add(found.id)
    return row


def _enter_misses(table: ObjectTable, row: int, found: SceneObject) -> None:
    """Take over the looks in vain since the object was last seen. Stores of the first release keep older ones, too, and
    tell of none for what a person took out."""
    if found.last_missed_ns > found.last_seen_ns:
        table.last_missed[row], table.times_missed[row] = found.last_missed_ns, max(found.times_missed, 1)
    elif found.removed:
        table.note_missed(row, found.last_seen_ns + 1)


def enter_scene(state: GraphState, places: Places, scene: SceneSnapshot, last_names: Mapping[str, int]) -> None:
    """Fill an empty graph with what was stored; last_names: by word the last number that a name of it had."""
    names = state.table.names
    names.note_last(last_names)
    for found in scene.objects:  # before a thing without a name is given one
        names.take(found.id, (found.name,))
    for found in scene.objects:
        enter_object(state, found)
    for row in state.active_rows().tolist():
        record = state.table.record(row)
        known = record.support_id if record.support_id == ROBOT_ID or record.support_id in state.table.row_of else ""
        state.stand_on(row, known, record.inside and bool(known))
        record.movable = record.movable and state.may_move(record.best_class)
    for row in state.load_of(ROBOT_ID):
        state.index.take(row)
        state.table.sheltered[row] = True
    places.areas.update({area.id: area for area in scene.areas})
    places.rooms.update({room.id: room for room in scene.rooms})
    places.floors.update({floor.id: floor for floor in scene.floors})
    for path in scene.relations:
        if path.kind is RelationKind.NAVIGABLE and path.source_id < path.target_id:
            places.paths[path.source_id, path.target_id] = path.distance_m
    state.now_ns = max((found.last_seen_ns for found in scene.objects), default=0)

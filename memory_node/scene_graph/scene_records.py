"""The graph as plain JSON-able rows and back: what the store keeps, and what a replay is compared by."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory_node.domain.geometry import OrientedBox, Pose
from memory_node.domain.scene import Area, Floor, Place, Room, SceneObject
from memory_node.domain.states import StateBelief, log_odds
from memory_node.scene_graph.object_table import ObjectRecord, ObjectTable
from memory_node.scene_graph.places import Places
from memory_node.scene_graph.state import ROBOT_ID, GraphState

Record = dict[str, Any]


def object_to_record(found: SceneObject) -> Record:
    """Return an object as a row. Its keys are stable; pictures are base64, embeddings base64 of little-endian
    float16."""
    return {
        "id": found.id,
        "classes": dict(found.class_probabilities),
        **_box_record(found.box),
        "covariance": np.asarray(found.covariance).tolist(),
        "existence": found.existence,
        "first_seen_ns": found.first_seen_ns,
        "last_seen_ns": found.last_seen_ns,
        "last_missed_ns": found.last_missed_ns,
        "times_seen": found.times_seen,
        "times_missed": found.times_missed,
        "movable": found.movable,
        "area_id": found.area_id,
        "support_id": found.support_id,
        "inside": found.inside,
        "anchor": found.anchor,
        "removed": found.removed,
        "states": [list(belief.as_row()) for belief in found.states],
        "embedding": encode_embedding(found.embedding),
        "crop_jpeg": base64.b64encode(found.crop_jpeg).decode("ascii"),
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
        "provenance": found.provenance,
        "attributes": dict(found.attributes),
        "name": found.name,
        "aliases": list(found.aliases),
        "placed_ns": found.placed_ns,
    }


def object_from_record(record: Mapping[str, Any]) -> SceneObject:
    """Return the object of a row made by `object_to_record`; further keys are left alone."""
    return SceneObject(
        id=record["id"],
        class_probabilities=dict(record["classes"]),
        box=_box_of(record),
        covariance=np.array(record["covariance"]),
        existence=record["existence"],
        first_seen_ns=record["first_seen_ns"],
        last_seen_ns=record["last_seen_ns"],
        last_missed_ns=record["last_missed_ns"],
        times_seen=record["times_seen"],
        times_missed=record["times_missed"],
        movable=record["movable"],
        area_id=record["area_id"],
        support_id=record["support_id"],
        inside=record["inside"],
        anchor=record["anchor"],
        removed=record["removed"],
        states=tuple(map(StateBelief.of_row, record["states"])),
        embedding=decode_embedding(record["embedding"]),
        crop_jpeg=base64.b64decode(record["crop_jpeg"]),
        history=tuple(
            Place(row["since_ns"], row["until_ns"], _box_of(row), row["area_id"], row["support_id"])
            for row in record["history"]
        ),
        provenance=record["provenance"],
        attributes=dict(record["attributes"]),
        name=record.get("name", ""),
        aliases=tuple(record.get("aliases", ())),
        placed_ns=int(record.get("placed_ns", 0)),
    )


def area_to_record(area: Area) -> Record:
    """Return an area as a row."""
    return {
        "id": area.id,
        "name": area.name,
        "position": list(area.position),
        "floor_id": area.floor_id,
        "room_id": area.room_id,
        "last_viewed_ns": area.last_viewed_ns,
    }


def area_from_record(record: Mapping[str, Any]) -> Area:
    """Return the area of a row."""
    return Area(**{**record, "position": (record["position"][0], record["position"][1])})


def room_to_record(room: Room) -> Record:
    """Return a room as a row."""
    return {
        "id": room.id,
        "name": room.name,
        "floor_id": room.floor_id,
        "center": list(room.center),
        "area_m2": room.area_m2,
        "named_by_user": room.named_by_user,
    }


def room_from_record(record: Mapping[str, Any]) -> Room:
    """Return the room of a row."""
    return Room(**{**record, "center": (record["center"][0], record["center"][1])})


def floor_to_record(floor: Floor) -> Record:
    """Return a floor as a row."""
    return {"id": floor.id, "name": floor.name, "height_m": floor.height_m}


def floor_from_record(record: Mapping[str, Any]) -> Floor:
    """Return the floor of a row."""
    return Floor(**record)


def pose_to_record(pose: Pose) -> list[float]:
    """Return a pose as x, y, z, qx, qy, qz, qw."""
    return [*pose.position.tolist(), *pose.quaternion.tolist()]


def pose_from_record(record: list[float]) -> Pose:
    """Return the pose of seven numbers."""
    return Pose(np.array(record[:3]), np.array(record[3:]))


def records_hash(records: Mapping[str, Any]) -> str:
    """Return a SHA-256 over rows in a canonical order of keys: equal graphs give equal hashes."""
    return hashlib.sha256(json.dumps(records, sort_keys=True).encode()).hexdigest()


def encode_embedding(embedding: NDArray[np.floating] | None) -> str:
    """Return an embedding as text, empty for none."""
    return "" if embedding is None else base64.b64encode(embedding.astype("<f2").tobytes()).decode("ascii")


def decode_embedding(text: str) -> NDArray[np.float32] | None:
    """Return the embedding of a text, None for an empty one."""
    return np.frombuffer(base64.b64decode(text), "<f2").astype(np.float32) if text else None


def _box_record(box: OrientedBox) -> Record:
    return {"center": box.center.tolist(), "size": box.size.tolist(), "yaw_rad": box.yaw_rad}


def _box_of(record: Mapping[str, Any]) -> OrientedBox:
    return OrientedBox(np.array(record["center"]), np.array(record["size"]), record["yaw_rad"])


def row_to_record(state: GraphState, row: int) -> Record:
    """Return one object's row; the key "filter" holds what SceneObject does not show."""
    table, record = state.table, state.table.record(row)
    return {
        **object_to_record(state.object_at(row)),
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


def enter_record(state: GraphState, values: Mapping[str, Any]) -> int:
    """Enter an object from a row, with or without "filter"; an object with the same id is replaced. Returns its row."""
    found = object_from_record(values)
    if found.id in state.table.row_of:
        state.drop(state.table.row(found.id))
    return enter_object(state, found, values.get("filter"))


def enter_object(state: GraphState, found: SceneObject, kept: Mapping[str, Any] | None = None) -> int:
    """Enter an object; `kept` is what `row_to_record` wrote under "filter", guessed from the object where it is
    missing."""
    weight = kept["class_weight"] if kept else min(4.0, max(1.0, float(found.times_seen)))
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
    if kept:
        table.log_odds[row], table.porosity[row] = kept["log_odds"], kept["porosity"]
        table.face_variance[row], table.yaw_weight[row] = kept["face_variance"], kept["yaw_weight"]
        record.anchors = tuple((str(name), float(share)) for name, share in kept["anchors"])
        record.crop_pixels = kept["crop_pixels"]
        record.put_at = tuple(kept["put_at"]) if kept.get("put_at") else None
    else:
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


def graph_to_records(state: GraphState, places: Places) -> dict[str, Any]:
    """Return the whole graph: lists of rows under objects, areas, rooms, floors, paths, keyframes."""
    return {
        "objects": [row_to_record(state, row) for row in state.table.rows()],
        "areas": [area_to_record(area) for area in places.areas.values()],
        "rooms": [room_to_record(room) for room in places.rooms.values()],
        "floors": [floor_to_record(floor) for floor in places.floors.values()],
        "paths": [[one, other, length] for (one, other), length in places.paths.items()],
        "keyframes": {name: pose_to_record(pose) for name, pose in state.keyframes.items()},
        "now_ns": state.now_ns,
        "version": state.version,
        "last_names": state.table.names.last,
    }


def load_records(state: GraphState, places: Places, records: Mapping[str, Any]) -> None:
    """Fill an empty graph from rows; missing lists count as empty."""
    names = state.table.names
    names.note_last(records.get("last_names", {}))
    for values in records.get("objects", ()):  # before a thing without a name is given one
        names.take(values["id"], (values.get("name", ""),))
    for values in records.get("objects", ()):
        enter_record(state, values)
    for row in state.active_rows().tolist():
        record = state.table.record(row)
        known = record.support_id if record.support_id == ROBOT_ID or record.support_id in state.table.row_of else ""
        state.stand_on(row, known, record.inside and bool(known))
        record.movable = record.movable and state.may_move(record.best_class)
    for row in state.load_of(ROBOT_ID):
        state.index.take(row)
        state.table.sheltered[row] = True
    places.areas.update({row["id"]: area_from_record(row) for row in records.get("areas", ())})
    places.rooms.update({row["id"]: room_from_record(row) for row in records.get("rooms", ())})
    places.floors.update({row["id"]: floor_from_record(row) for row in records.get("floors", ())})
    places.paths.update({(one, other): length for one, other, length in records.get("paths", ())})
    state.keyframes.update({name: pose_from_record(pose) for name, pose in records.get("keyframes", {}).items()})
    state.now_ns = int(records.get("now_ns", 0)) or max(
        (o["last_seen_ns"] for o in records.get("objects", ())), default=0
    )
    state.version = int(records.get("version", 0))

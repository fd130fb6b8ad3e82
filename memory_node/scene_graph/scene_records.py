"""Scene values as plain JSON-able rows and back: what the store keeps and what a replay is compared by."""

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
from memory_node.domain.states import StateBelief

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

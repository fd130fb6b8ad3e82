"""Scene objects as rows and back; the way back is vectorised because a start reads all of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from memory_node.domain.geometry import OrientedBox
from memory_node.domain.scene import Place, SceneObject
from memory_node.domain.states import StateBelief
from memory_node.store.records import Belief, Row, to_json


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

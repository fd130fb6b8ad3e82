"""The scene graph as plain values for the page: short rows, so that 20,000 objects travel in a second."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from memory_node.domain.scene import Place, SceneObject, SceneSnapshot
from memory_node.domain.scene_as_of import moments_of
from memory_node.domain.states import StateBelief

_MOST_MOMENTS = 20_000


def object_row(found: SceneObject) -> dict[str, Any]:
    """Return what the page draws and lists of an object. sigma: of the centre along the worst axis, m."""
    name = found.class_name
    return {
        "id": found.id,
        "name": found.name,
        "class": name,
        "p": round(found.class_probabilities[name], 3),
        "at": _metres(found.box.center),
        "size": _metres(found.box.size),
        "yaw": round(found.box.yaw_rad, 3),
        "sigma": round(float(np.sqrt(max(np.diag(found.covariance).max(), 0.0))), 3),
        "existence": round(found.existence, 3),
        "area": found.area_id,
        "on": found.support_id,
        "inside": found.inside,
        "seen_s": seconds(found.last_seen_ns),
        "movable": found.movable,
        "removed": found.removed,
        "by": found.provenance,
        "states": [str(belief.state) for belief in found.states if belief.probability >= 0.5],
    }


def scene_rows(scene: SceneSnapshot) -> dict[str, Any]:
    """Return a snapshot: floors, rooms, areas, objects, relations."""
    return {
        "version": scene.version,
        "stamp_s": seconds(scene.stamp_ns),
        "frame_id": scene.frame_id,
        "frame_verified": scene.frame_verified,
        "floors": [{"id": one.id, "name": one.name, "height": round(one.height_m, 3)} for one in scene.floors],
        "rooms": [
            {
                "id": one.id,
                "name": one.name,
                "floor_id": one.floor_id,
                "at": _metres(one.center),
                "m2": round(one.area_m2, 1),
            }
            for one in scene.rooms
        ],
        "areas": [
            {
                "id": one.id,
                "name": one.name,
                "room_id": one.room_id,
                "floor_id": one.floor_id,
                "at": _metres(one.position),
            }
            for one in scene.areas
        ],
        "objects": [object_row(one) for one in scene.objects],
        "relations": [[one.source_id, str(one.kind), one.target_id] for one in scene.relations],
    }


def object_card(found: SceneObject, places: Iterable[Place], now_ns: int) -> dict[str, Any]:
    """Return all that is known of one object, with its earlier places.

    now_ns: the moment that is told of, by which ages are told; places that it had not left yet are left out.
    """
    classes = sorted(found.class_probabilities.items(), key=lambda entry: -entry[1])
    return {
        **object_row(found),
        "classes": [{"name": name, "p": round(share, 4)} for name, share in classes],
        "covariance_m2": [[round(float(value), 6) for value in row] for row in found.covariance],
        "first_seen_s": seconds(found.first_seen_ns),
        "last_missed_s": seconds(found.last_missed_ns),
        "times_seen": found.times_seen,
        "times_missed": found.times_missed,
        "anchor": found.anchor,
        "beliefs": [_belief(belief) for belief in found.states],
        "history": [_place(place) for place in places if place.until_ns <= now_ns],
        "now_s": seconds(now_ns),
    }


def what_changed(before: Iterable[SceneObject], after: Iterable[SceneObject], least_m: float = 0.15) -> dict[str, Any]:
    """Return what came, went and moved by `least_m` or more between two snapshots."""
    then, now = {one.id: one for one in before}, {one.id: one for one in after}
    moved = [
        (then[key], found)
        for key, found in now.items()
        if key in then and float(np.linalg.norm(found.box.center - then[key].box.center)) >= least_m
    ]
    return {
        "appeared": [object_row(found) for key, found in now.items() if key not in then],
        "gone": [object_row(found) for key, found in then.items() if key not in now],
        "moved": [{**object_row(found), "from": _metres(was.box.center)} for was, found in moved],
    }


def timeline(objects: Sequence[SceneObject], past: Sequence[Place] = ()) -> dict[str, Any]:
    """Return from when to when there is something to see, and the moments of changes in order.

    past: the objects' earlier places. Of very many moments those that lie close are one.
    """
    stamps = moments_of(objects, past)
    if not len(stamps):
        return {"begin_s": 0.0, "end_s": 0.0, "moments": []}
    step_ns = 1_000
    # The end of a step stands for it, and floats of this century are no finer than 256 ns: as of then, all is seen.
    while len(moments := np.unique((stamps // step_ns + 2) * step_ns)) > _MOST_MOMENTS:
        step_ns *= 10
    end = max(int(moments[-1]), max(one.last_seen_ns for one in objects))
    return {"begin_s": seconds(int(stamps[0])), "end_s": seconds(end), "moments": list(map(seconds, moments.tolist()))}


def seconds(stamp_ns: int) -> float:
    """Return a stamp in seconds, to the microsecond."""
    return round(stamp_ns * 1e-9, 6)


def nanoseconds(stamp_s: float) -> int:
    """Return a stamp of the page in nanoseconds."""
    return round(stamp_s * 1e9)


def _metres(values: Iterable[float]) -> list[float]:
    return [round(float(value), 3) for value in values]


def _belief(belief: StateBelief) -> dict[str, Any]:
    return {
        "state": str(belief.state),
        "p": round(belief.probability, 3),
        "confirmed_s": seconds(belief.confirmed_ns),
        "by": belief.source,
    }


def _place(place: Place) -> dict[str, Any]:
    return {
        "since_s": seconds(place.since_ns),
        "until_s": seconds(place.until_ns),
        "at": _metres(place.box.center),
        "area": place.area_id,
        "on": place.support_id,
    }

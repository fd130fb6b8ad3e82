"""The scene graph and its changes."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from robot_memory import msg as rm

from memory_node.domain.geometry import OrientedBox
from memory_node.domain.scene import (
    Area,
    Floor,
    Relation,
    RelationKind,
    Room,
    SceneEvent,
    SceneEventKind,
    SceneObject,
    SceneSnapshot,
)
from memory_node.nodes.conversions.geometry import (
    box_pose_to_msg,
    covariance_from_msg,
    header,
    point_from_msg,
    pose_from_msg,
    vector_to_msg,
)
from memory_node.nodes.conversions.paired import PLACE, TEXTS, Paired, Part, several, stamp
from memory_node.nodes.conversions.skills import STATES

_OBJECT = Paired(
    SceneObject,
    rm.SceneObject,
    existence=Part("existence_probability"),
    first_seen_ns=stamp("first_seen"),
    last_seen_ns=stamp("last_seen"),
    last_missed_ns=stamp("last_missed"),
    states=STATES,
    aliases=TEXTS,
)
_FLOOR = Paired(Floor, rm.Floor, height_m=Part("height"))
_ROOM = Paired(Room, rm.Room, center=PLACE, area_m2=Part("area"))
_AREA = Paired(Area, rm.Area, position=PLACE, last_viewed_ns=stamp("last_viewed"))
_RELATION = Paired(
    Relation,
    rm.Relation,
    kind=Part("kind", str, lambda what, value: RelationKind(value)),
    distance_m=Part("distance"),
)


def object_to_msg(obj: SceneObject) -> rm.SceneObject:
    """Return a SceneObject message."""
    classes = sorted(obj.class_probabilities.items(), key=lambda item: -item[1])
    return _OBJECT.to_msg(
        obj,
        classes=[rm.ClassProbability(name=name, probability=p) for name, p in classes],
        pose=box_pose_to_msg(obj.box.center, obj.box.yaw_rad, obj.covariance),
        size=vector_to_msg(obj.box.size),
        description=obj.description,
    )


def object_from_msg(msg: rm.SceneObject) -> SceneObject:
    """Return a domain SceneObject (without images and history, which do not travel)."""
    pose = pose_from_msg(msg.pose.pose)
    return _OBJECT.from_msg(
        msg,
        class_probabilities={c.name: c.probability for c in msg.classes},
        box=OrientedBox(pose.position, np.array(point_from_msg(msg.size)), pose.yaw_rad),
        covariance=covariance_from_msg(msg.pose),
        attributes={"description": msg.description} if msg.description else {},
    )


_SNAPSHOT = Paired(
    SceneSnapshot,
    rm.SceneGraph,
    stamp_ns=stamp("header.stamp"),
    frame_id=Part("header.frame_id"),
    floors=several(_FLOOR.to_msg, _FLOOR.from_msg),
    rooms=several(_ROOM.to_msg, _ROOM.from_msg),
    areas=several(_AREA.to_msg, _AREA.from_msg),
    objects=several(object_to_msg, object_from_msg),
    relations=several(_RELATION.to_msg, _RELATION.from_msg),
)
snapshot_to_msg, snapshot_from_msg = _SNAPSHOT.to_msg, _SNAPSHOT.from_msg


def delta_to_msg(events: Iterable[SceneEvent], stamp_ns: int, from_version: int, to_version: int) -> rm.SceneGraphDelta:
    """Return scene events as one SceneGraphDelta."""
    msg = rm.SceneGraphDelta(header=header(stamp_ns), from_version=from_version, to_version=to_version)
    listed = {
        SceneEventKind.APPEARED: msg.appeared,
        SceneEventKind.UPDATED: msg.updated,
        SceneEventKind.MOVED: msg.moved,
    }
    for event in events:
        if event.kind in listed:
            listed[event.kind].append(object_to_msg(event.object))
        elif event.kind is SceneEventKind.REMOVED:
            msg.removed_ids.append(event.object.id)
        elif event.kind is SceneEventKind.FORGOTTEN:
            msg.forgotten_ids.append(event.object.id)
        else:
            msg.merged_ids.append(event.object.id)
            msg.merged_into_ids.append(event.into_id)
    return msg

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
    point_to_msg,
    pose_from_msg,
    stamp_from_msg,
    stamp_to_msg,
    vector_to_msg,
)
from memory_node.nodes.conversions.skills import states_from_msg, states_to_msg


def object_to_msg(obj: SceneObject) -> rm.SceneObject:
    """Return a SceneObject message."""
    classes = sorted(obj.class_probabilities.items(), key=lambda item: -item[1])
    return rm.SceneObject(
        id=obj.id,
        classes=[rm.ClassProbability(name=name, probability=p) for name, p in classes],
        pose=box_pose_to_msg(obj.box.center, obj.box.yaw_rad, obj.covariance),
        size=vector_to_msg(obj.box.size),
        existence_probability=obj.existence,
        first_seen=stamp_to_msg(obj.first_seen_ns),
        last_seen=stamp_to_msg(obj.last_seen_ns),
        last_missed=stamp_to_msg(obj.last_missed_ns),
        times_seen=obj.times_seen,
        times_missed=obj.times_missed,
        movable=obj.movable,
        removed=obj.removed,
        area_id=obj.area_id,
        support_id=obj.support_id,
        inside=obj.inside,
        anchor=obj.anchor,
        states=states_to_msg(obj.states),
        provenance=obj.provenance,
        name=obj.name,
        aliases=list(obj.aliases),
    )


def object_from_msg(msg: rm.SceneObject) -> SceneObject:
    """Return a domain SceneObject (without images and history, which do not travel)."""
    pose = pose_from_msg(msg.pose.pose)
    return SceneObject(
        id=msg.id,
        class_probabilities={c.name: c.probability for c in msg.classes},
        box=OrientedBox(pose.position, np.array(point_from_msg(msg.size)), pose.yaw_rad),
        covariance=covariance_from_msg(msg.pose),
        existence=msg.existence_probability,
        first_seen_ns=stamp_from_msg(msg.first_seen),
        last_seen_ns=stamp_from_msg(msg.last_seen),
        last_missed_ns=stamp_from_msg(msg.last_missed),
        times_seen=msg.times_seen,
        times_missed=msg.times_missed,
        movable=msg.movable,
        removed=msg.removed,
        area_id=msg.area_id,
        support_id=msg.support_id,
        inside=msg.inside,
        anchor=msg.anchor,
        states=states_from_msg(msg.states),
        provenance=msg.provenance,
        name=msg.name,
        aliases=tuple(msg.aliases),
    )


def snapshot_to_msg(scene: SceneSnapshot) -> rm.SceneGraph:
    """Return the whole graph as a SceneGraph message."""
    return rm.SceneGraph(
        header=header(scene.stamp_ns, scene.frame_id),
        version=scene.version,
        frame_verified=scene.frame_verified,
        floors=[rm.Floor(id=f.id, name=f.name, height=f.height_m) for f in scene.floors],
        rooms=[
            rm.Room(
                id=r.id,
                name=r.name,
                floor_id=r.floor_id,
                center=point_to_msg(r.center),
                area=r.area_m2,
                named_by_user=r.named_by_user,
            )
            for r in scene.rooms
        ],
        areas=[
            rm.Area(
                id=a.id,
                name=a.name,
                room_id=a.room_id,
                floor_id=a.floor_id,
                position=point_to_msg(a.position),
                last_viewed=stamp_to_msg(a.last_viewed_ns),
            )
            for a in scene.areas
        ],
        objects=[object_to_msg(o) for o in scene.objects],
        relations=[
            rm.Relation(
                source_id=r.source_id,
                kind=str(r.kind),
                target_id=r.target_id,
                distance=r.distance_m,
                probability=r.probability,
            )
            for r in scene.relations
        ],
    )


def snapshot_from_msg(msg: rm.SceneGraph) -> SceneSnapshot:
    """Return a SceneGraph message as a domain snapshot."""
    return SceneSnapshot(
        stamp_ns=stamp_from_msg(msg.header.stamp),
        floors=tuple(Floor(f.id, f.name, f.height) for f in msg.floors),
        rooms=tuple(
            Room(r.id, r.name, r.floor_id, point_from_msg(r.center)[:2], r.area, r.named_by_user) for r in msg.rooms
        ),
        areas=tuple(
            Area(a.id, a.name, point_from_msg(a.position)[:2], a.floor_id, a.room_id, stamp_from_msg(a.last_viewed))
            for a in msg.areas
        ),
        objects=tuple(object_from_msg(o) for o in msg.objects),
        relations=tuple(
            Relation(r.source_id, RelationKind(r.kind), r.target_id, r.distance, r.probability) for r in msg.relations
        ),
        frame_id=msg.header.frame_id,
        frame_verified=msg.frame_verified,
        version=msg.version,
    )


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
